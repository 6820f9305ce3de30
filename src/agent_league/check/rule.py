"""What a rule is: a requirement, the cases that show whether it is kept, and the judgement."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from agent_league.check.exchange import Exchange, Problem
from agent_league.check.masking import sanitize
from agent_league.protocol import Role
from agent_league.protocol.requirements import Gravity, Requirement
from agent_league.protocol.requirements.rules import RULES


class Mark(StrEnum):
    """How an agent did by one rule."""

    KEPT = "kept"
    BROKEN = "broken"
    ADVICE = "advice"
    """Something to improve that no document demands."""
    UNJUDGED = "not judged"


Subject = TypeVar("Subject")


class Case(NamedTuple, Generic[Subject]):
    """Something that a rule judges, and the exchange in which it was seen."""

    subject: Subject
    proof: Exchange
    where: str = ""
    """Which one it is, to begin the sentence about it."""


class NotJudgedError(Exception):
    """A rule cannot be judged; the text says why."""


Select: TypeAlias = Callable[[Any], Iterable[Case[Subject] | Exchange | None]]
"""Returns the cases in what was seen of an agent, or raises `NotJudgedError`, at the end too.

An exchange needs no case: it proves itself. None, for what was not seen, is left out.
"""


@dataclass(frozen=True)
class Rule:
    """One requirement, as the agents of *roles* are judged by it."""

    id: str
    roles: tuple[Role, ...]
    requirement: Requirement
    recorded: tuple[Requirement, ...]
    """What a tolerant league notes about an agent that breaks it."""
    select: Select[Any]
    find_problem: Callable[[Any], Problem]

    @property
    def mark_if_broken(self) -> Mark:
        return Mark.ADVICE if self.requirement.gravity is Gravity.ADVICE else Mark.BROKEN

    def judge(self, observations: Any) -> "Finding":
        """Return how the agent did: the first case with a problem breaks the rule."""
        mark, why = Mark.UNJUDGED, observations.stop_reason
        try:
            for each in self.select(observations):
                if each is None:
                    continue
                subject, proof, where = each if isinstance(each, Case) else Case(each, each)
                problem = self.find_problem(subject)
                if problem:
                    return Finding(self, self.mark_if_broken, sanitize(where + problem), proof)
                mark, why = Mark.KEPT, ""
        except NotJudgedError as error:
            mark, why = Mark.UNJUDGED, str(error)
        return Finding(self, mark, sanitize(why))


@dataclass(frozen=True)
class Finding:
    """How an agent did by one rule, why, and the exchange that shows it."""

    rule: Rule
    mark: Mark
    why: str = ""
    proof: Exchange | None = None


def rule(
    roles: tuple[Role, ...],
    requirement: Requirement,
    of: Select[Subject],
    *,
    id: str | None = None,  # noqa: A002 - its name in every report
    recorded: tuple[Requirement, ...] | None = None,
) -> Callable[[Callable[[Subject], Problem]], Rule]:
    """Declare a rule; the function below finds the problem in one case.

    The rule has the id of its requirement, unless several rules share the requirement. What
    breaks a rule of play is recorded as that, unless *recorded* says otherwise.
    """
    if recorded is None:
        recorded = (requirement,) if requirement.id in RULES else ()
    return lambda find_problem: Rule(
        id or requirement.id, roles, requirement, recorded, of, find_problem
    )


def find_rules(*modules: ModuleType) -> Iterator[Rule]:
    """Yield the rules that *modules* declare, alone or in a tuple, in the order of their text."""
    for module in modules:
        for value in vars(module).values():
            found = value if isinstance(value, tuple) else (value,)
            yield from (each for each in found if isinstance(each, Rule))
