"""What a rule is: one demand of the protocol, where it is written, and how to tell if it is kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import Any

from agent_league.check.exchange import Exchange
from agent_league.check.masking import plain
from agent_league.protocol import Role


class Gravity(StrEnum):
    """What breaking a rule costs, in the words of 000, Grading Criteria."""

    MINOR = "minor violations"
    MAJOR = "major violations"
    CRITICAL = "disqualified"


class Mark(StrEnum):
    """How an agent did by one rule."""

    KEPT = "kept"
    BROKEN = "broken"
    UNJUDGED = "not judged"


@dataclass(frozen=True)
class Verdict:
    """How an agent did by one rule, why, and the exchange that shows it."""

    mark: Mark
    why: str = ""
    proof: Exchange | None = None


KEPT = Verdict(Mark.KEPT)


def broken(why: str, proof: Exchange | None = None) -> Verdict:
    return Verdict(Mark.BROKEN, plain(why), proof)


def unjudged(why: str) -> Verdict:
    return Verdict(Mark.UNJUDGED, plain(why))


Judge = Callable[[Any], Verdict]
"""A pure function from what was seen of an agent to how it did."""


@dataclass(frozen=True)
class Rule:
    """One demand of the protocol; the function below its declaration judges it."""

    id: str
    roles: tuple[Role, ...]
    title: str
    section: str
    """The document and the section that demand it: a key of `SECTIONS`."""
    fix: str
    gravity: Gravity
    recorded: tuple[str, ...]
    """What a tolerant league writes down of an agent that breaks it: ids of its violations."""
    judge: Judge

    def __call__(self, seen: Any) -> Verdict:
        return self.judge(seen)


def rule(
    id: str,  # noqa: A002 - its name in every report
    *roles: Role,
    title: str,
    section: str,
    fix: str,
    gravity: Gravity = Gravity.MAJOR,
    recorded: tuple[str, ...] = (),
) -> Callable[[Judge], Rule]:
    """Declare the function below as a rule."""
    return lambda judge: Rule(id, roles, title, section, fix, gravity, recorded, judge)


def declared_in(*modules: ModuleType) -> Iterator[Rule]:
    """Yield the rules that *modules* declare, in the order of their text."""
    for module in modules:
        yield from (found for found in vars(module).values() if isinstance(found, Rule))
