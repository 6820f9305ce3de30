"""How one peer is spoken to: a letter goes out in the peer's own way, and its result comes back.

The league's dialect is here. Another way of speaking is another `Speech`, and nobody but the
`Line` that holds it needs to know.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple, Protocol, TypeAlias

import msgspec
from msgspec import Raw, UnsetType

from agent_league.protocol import Message, name
from agent_league.protocol.fields import VERSION
from agent_league.protocol.jsonrpc import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    FrameError,
    Problem,
    call,
    read_returned,
)
from agent_league.transport.exchange import Post
from agent_league.transport.failures import NoAnswerError, NonsenseError, RefusedError

_encode = msgspec.json.Encoder().encode


class Letter(NamedTuple):
    """A message that is written once and may be sent to many."""

    kind: type[Message]
    body: bytes


def sealed(message: Message) -> Letter:
    return Letter(type(message), _encode(message))


def _by_tool(letter: Letter, number: int) -> bytes:
    return call(letter.kind.route.tool, letter.body, number)


def _by_message_type(letter: Letter, number: int) -> bytes:
    return call(name(letter.kind), letter.body, number)


def _bare(letter: Letter, number: int) -> bytes:
    return letter.body


class Speech(Protocol):
    """Delivers letters to one peer in a dialect that it understands."""

    @property
    def dialect(self) -> str: ...

    async def deliver(self, letter: Letter, within: float) -> bytes | Raw:
        """Return the result as the protocol writes it, or raise a `NoAnswerError`."""
        ...


Spelling: TypeAlias = Callable[[Letter, int], bytes]
SPELLINGS: tuple[Spelling, ...] = (_by_tool, _by_message_type, _bare)
"""How a call may be put, in the order in which a peer that does not understand is tried."""


class LeagueSpeech:
    """The league's own dialect, in the spelling that the peer at *url* turns out to like."""

    dialect = VERSION

    def __init__(self, url: str, post: Post) -> None:
        self._url, self._post = url, post
        self._numbers: Iterator[int] = count(1)
        self._spelling = SPELLINGS[0]

    async def deliver(self, letter: Letter, within: float) -> bytes | Raw:
        """Return the result of *letter*, in the first spelling that the peer knows."""
        spelling, tried = self._spelling, Tried()
        while True:
            number = next(self._numbers)
            try:
                answer = await self._post(self._url, spelling(letter, number), within)
                result = _result(answer.body, number, bare=spelling is _bare)
            except NoAnswerError as error:
                spelling = tried.instead_of(spelling, error)
            else:
                self._spelling = spelling
                return result


class Tried:
    """The spellings that one call was put in, and what came of it."""

    def __init__(self) -> None:
        self._errors: dict[Spelling, NoAnswerError] = {}

    def instead_of(self, spelling: Spelling, error: NoAnswerError) -> Spelling:
        """Return what else to try for a peer that does not know the method, or raise."""
        self._errors[spelling] = error
        first = next(iter(self._errors.values()))
        unknown = isinstance(first, RefusedError) and first.rpc_code == METHOD_NOT_FOUND
        if error.retryable or not unknown:
            raise error
        for other in SPELLINGS:
            if other not in self._errors:
                return other
        raise first


def _result(body: bytes, number: int, *, bare: bool) -> bytes | Raw:
    """Return what the peer answered, or raise what its answer amounts to."""
    try:
        frame = read_returned(body)
    except FrameError as error:
        raise NonsenseError(error.detail) from error
    if isinstance(frame.error, Problem):
        raise RefusedError(frame.error.code, frame.error.message, frame.error.data)
    if bare and isinstance(frame.result, UnsetType):
        return _bare_result(body)
    if frame.id != number and not bare:
        raise NonsenseError(f"the answer has the id {frame.id!r}, the request had {number}")
    if isinstance(frame.result, UnsetType):
        raise NonsenseError("the answer has neither a result nor an error")
    return frame.result


COMPLAINTS = {"LEAGUE_ERROR", "GAME_ERROR"}


def _bare_result(body: bytes) -> bytes:
    """Return a message that came without a frame, unless it is a complaint."""
    said = msgspec.json.decode(body)
    if said.get("message_type") in COMPLAINTS:
        detail = said.get("detail") or said.get("error_description")
        raise RefusedError(INVALID_REQUEST, str(detail), said)
    return body
