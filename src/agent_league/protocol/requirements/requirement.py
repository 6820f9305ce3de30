"""What a requirement is: one demand, where it is written, and how to fix an agent that breaks it."""

from enum import StrEnum
from typing import NamedTuple

from agent_league.protocol.errors import ErrorCode
from agent_league.protocol.requirements.sections import SECTIONS


class Gravity(StrEnum):
    """What breaking a requirement costs, in the words of 000, Grading Criteria."""

    ADVICE = "advice"
    """Nothing: no document demands it, but it saves trouble in a league."""
    MINOR = "minor violations"
    MAJOR = "major violations"
    CRITICAL = "disqualified"


class Requirement(NamedTuple):
    """One demand of the specification."""

    id: str
    """Stays the same for ever: events, reports and `league check` carry it."""
    section: str
    """The document and the section that demand it: a key of `SECTIONS`."""
    demand: str
    """What an agent has to do, as a clause: "every message has a sender"."""
    fix: str
    """What the author of an agent does about it."""
    gravity: Gravity
    code: ErrorCode
    """What a strict league answers with when an agent breaks it."""

    @property
    def source(self) -> str:
        """The section with its heading."""
        return f"{self.section} ({SECTIONS[self.section]})"


def define(text: str) -> Requirement:
    """Return the requirement in *text*; raise `ValueError` if it has another form.

    The first line is `id | section`, perhaps with the name of a gravity and an error code
    after it. Below it come the demand, and the fix after `fix: `.
    """
    head, _, body = text.partition("\n")
    name, section, *marks = head.split(" | ")
    if section not in SECTIONS:
        raise ValueError(f"{name}: there is no section {section}")
    demand, fix = (" ".join(part.split()) for part in body.split("fix: "))
    gravity, code = Gravity.MAJOR, ErrorCode.INVALID_FIELD_VALUE
    for mark in marks:
        if mark in Gravity.__members__:
            gravity = Gravity[mark]
        else:
            code = ErrorCode(mark)
    return Requirement(name, section, demand, fix, gravity, code)
