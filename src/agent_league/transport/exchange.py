"""What crosses a wire, whichever wire it is: a body out, a status and a body back."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from agent_league.transport.failures import BusyError, CrashedError, UnreachableError


class Answer(NamedTuple):
    """What a peer sent back."""

    status: int
    body: bytes


class Parcel(NamedTuple):
    """A body with headers of its own, for a peer that does not only look at bodies."""

    body: bytes
    headers: Mapping[str, str]
    until: Callable[[bytes], bool]
    """Says of the data of an event whether it is the answer, if one comes as a stream of events."""


class Heard(NamedTuple):
    """What a peer sent back to a parcel; the names of headers are in small letters."""

    status: int
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})


Post: TypeAlias = Callable[[str, bytes, float], Awaitable[Answer]]
"""Send a body to a URL and return the answer, or raise `NoAnswerError` within so many seconds."""

Exchange: TypeAlias = Callable[[str, Parcel, float], Awaitable[Heard]]
"""Send a parcel to a URL and return what comes back, or raise `NoAnswerError` as `Post` does."""

_FIRST_REDIRECT, _FIRST_CLIENT_ERROR, _TOO_MANY, _FIRST_SERVER_ERROR = 300, 400, 429, 500


def usable(answer: Answer, who: str) -> Answer:
    """Return *answer*, or raise `UnreachableError` when *who* says that it cannot answer now.

    A redirect counts as that: following one would let a peer point us at somebody else.
    """
    status = answer.status
    if status < _FIRST_REDIRECT:
        return answer
    if status < _FIRST_CLIENT_ERROR:
        raise UnreachableError(f"{who} answered HTTP {status}, and redirects are not followed")
    if status == _TOO_MANY:
        raise BusyError(f"{who} answered HTTP {status}")
    if status == _FIRST_SERVER_ERROR:
        raise CrashedError(f"{who} answered HTTP {status}")
    if status > _FIRST_SERVER_ERROR:
        raise UnreachableError(f"{who} answered HTTP {status}")
    return answer
