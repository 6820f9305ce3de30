"""The ways in which a peer can be told something, and which to try when one is not understood."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import msgspec

from agent_league.dialects import Deviation, rules
from agent_league.dialects.orders import FORMS, Form
from agent_league.dialects.writing import as_it_is, plainly
from agent_league.protocol import ErrorCode, Message, name
from agent_league.protocol.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    call,
)
from agent_league.protocol.play import StartMatch
from agent_league.transport.exchange import Answer
from agent_league.transport.failures import (
    BusyError,
    CrashedError,
    LateError,
    NoAnswerError,
    NonsenseError,
    NoReplyError,
    RefusedError,
    UnreachableError,
)


class Letter(NamedTuple):
    """A message that is written once and may be sent to many."""

    kind: type[Message]
    body: bytes
    aside: Callable[[], Mapping[str, Any]] | None = None
    """What other dialects say with this message, and league.v2 elsewhere or not at all."""


def _by_tool(letter: Letter, number: int) -> bytes:
    return call(letter.kind.route.tool, letter.body, number)


def _by_message_type(letter: Letter, number: int) -> bytes:
    return call(name(letter.kind), letter.body, number)


def _bare(letter: Letter, number: int) -> bytes:
    return letter.body


Spelling: TypeAlias = Callable[[Letter, int], bytes]
SPELLINGS: tuple[Spelling, ...] = (_by_tool, _by_message_type, _bare)
"""How a call may be put, in the order in which a peer that does not understand is tried."""


class Way(NamedTuple):
    """How a letter is put: its frame, how it is written, or a stranger's form of it."""

    spelling: Spelling
    plain: bool = False
    form: Form | None = None
    url: str = ""

    @property
    def bare(self) -> bool:
        return self.spelling is _bare

    def written(self, letter: Letter, number: int) -> bytes:
        if self.form is not None:
            order = {**msgspec.json.decode(letter.body), "referee_endpoint": self.url}
            return call(self.form.method, msgspec.json.encode(self.form.params(order)), number)
        writing = plainly if self.plain else as_it_is
        return self.spelling(Letter(letter.kind, writing(letter.kind, letter.body)), number)


USUAL = Way(SPELLINGS[0])
_WAYS = tuple(Way(spelling, plain) for plain in (False, True) for spelling in SPELLINGS)


def ways_to(kind: type[Message], url: str) -> tuple[Way, ...]:
    """Return the ways to say a *kind* to the peer at *url*."""
    return _orders(url) if kind is StartMatch else _WAYS


@cache
def _orders(url: str) -> tuple[Way, ...]:
    foreign = (Way(_by_tool, form=form, url=url) for form in FORMS[1:])
    return (*_WAYS[:3], *foreign)


_TOO_OFTEN = re.compile(rb"rate.?limit|too many requests|E027", re.IGNORECASE)


def unhurried(answer: Answer) -> Answer:
    """Return *answer*, or raise `BusyError` if it says, without HTTP's word for it, to wait."""
    if b'"error"' in answer.body and _TOO_OFTEN.search(answer.body):
        raise BusyError("it does not want to be asked so often")
    return answer


class Tried:
    """The ways in which one call was put, and what came of it; *ways* are all that there are."""

    def __init__(self, ways: tuple[Way, ...]) -> None:
        self._ways = ways
        self.errors: dict[Way, NoAnswerError] = {}

    @property
    def in_vain(self) -> bool:
        """Whether everything was tried, and there was more than one thing to try."""
        return len(self.errors) > 1 and self.errors.keys() >= set(self._ways)

    @property
    def discerning(self) -> bool:
        """Whether the peer has said of something else that it does not know it."""
        return any(map(_unknown, self.errors.values()))

    def instead_of(self, way: Way, error: NoAnswerError) -> Way:
        """Return what else to try for a peer that does not understand, or raise."""
        self.errors[way] = error
        first = next(iter(self.errors.values()))
        if _passing(error) or not self._may_help(first):
            raise error
        left = [other for other in self._ways if other not in self.errors]
        if not left:
            raise first
        lost = _unknown(error) or isinstance(error, _LOST)
        key = "plain" if lost else "spelling"  # what should stay as it is, if possible
        alike = [other for other in left if getattr(other, key) == getattr(way, key)]
        return (alike or left)[0]

    def _may_help(self, first: NoAnswerError) -> bool:
        if isinstance(first, NonsenseError):
            return isinstance(first, NoReplyError)
        tolerant = any(way.plain or way.form for way in self._ways)
        return _unknown(first) or (tolerant and (unread(first) or isinstance(first, CrashedError)))

    def habits(self, way: Way) -> Iterator[Deviation]:
        """Yield what a peer that understands only *way* shows by that."""
        said = str(next(iter(self.errors.values()), "learned before"))[:80]
        if way.form is not None:
            yield Deviation(rules.ORDER_FORM, f"a referee that is started by {way.form.id}")
            return
        if way.plain:
            yield Deviation(rules.RIGHT_REFUSED, said)
        if way.bare:
            yield Deviation(rules.BARE_ONLY, said)
        if any(isinstance(error, _LOST) for error in self.errors.values()):
            yield Deviation(rules.OK_TO_UNKNOWN, said)


_LOST = (NoReplyError, CrashedError)
"""What comes of a peer that did not understand, and cannot say so."""


def _passing(error: NoAnswerError) -> bool:
    """Whether the same may succeed a little later, and nothing else would now."""
    gone = isinstance(error, (LateError, UnreachableError))
    return gone and not isinstance(error, CrashedError)


_UNREAD = {PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS}
_ABOUT_FORM = {
    ErrorCode.NOT_ALLOWED,  # also what is said in no code of ours
    ErrorCode.MISSING_REQUIRED_FIELD,
    ErrorCode.INVALID_TIMESTAMP,
    ErrorCode.INVALID_FIELD_VALUE,
}


def unread(error: NoAnswerError) -> bool:
    """Whether a peer refuses how something was said, not what."""
    return (
        isinstance(error, RefusedError) and error.rpc_code in _UNREAD and error.code in _ABOUT_FORM
    )


def _unknown(error: NoAnswerError) -> bool:
    return isinstance(error, RefusedError) and error.rpc_code == METHOD_NOT_FOUND
