"""A way to reach one peer: a message goes out, and only a right answer comes back."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Raw, UnsetType

from agent_league.protocol import (
    ErrorCode,
    Message,
    Notice,
    Patience,
    ProtocolError,
    Request,
    name,
    read,
)
from agent_league.protocol.jsonrpc import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    FrameError,
    Problem,
    call,
    read_returned,
)
from agent_league.transport.exchange import Post
from agent_league.transport.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    RefusedError,
    UnreachableError,
)
from agent_league.transport.retry import Breaker

Reply = TypeVar("Reply", bound=Message)

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


Spelling: TypeAlias = Callable[[Letter, int], bytes]
SPELLINGS: tuple[Spelling, ...] = (_by_tool, _by_message_type, _bare)
"""How a call may be put, in the order in which a peer that does not understand is tried."""


class Witness(Protocol):
    """Sees what goes over a line."""

    def sent(self, body: bytes) -> None: ...

    def heard(self, body: bytes | Raw) -> None: ...

    def missed(self, error: NoAnswerError) -> None: ...


class Line:
    """Reaches the agent at *url*, and remembers how it likes to be called."""

    def __init__(self, url: str, post: Post, patience: Patience, breaker: Breaker) -> None:
        self.url = url
        self.breaker = breaker
        self._post = post
        self._patience = patience
        self._numbers: Iterator[int] = count(1)
        self._spelling = SPELLINGS[0]

    async def ask(
        self,
        request: Request[Reply],
        within: float | None = None,
        witness: Witness | None = None,
    ) -> Reply:
        """Send *request* and return the reply, or raise a `NoAnswerError`."""
        result = await self.deliver(sealed(request), within, witness)
        try:
            reply = read(result, meant=request.reply)
        except ProtocolError as error:
            raise NonsenseError(error.detail, error.code, **error.context) from error
        _check(request, reply)
        return cast("Reply", reply)

    async def tell(
        self, notice: Notice, within: float | None = None, witness: Witness | None = None
    ) -> None:
        """Send *notice*, or raise a `NoAnswerError` if it is not taken."""
        await self.deliver(sealed(notice), within, witness)

    async def deliver(
        self, letter: Letter, within: float | None = None, witness: Witness | None = None
    ) -> bytes | Raw:
        """Send *letter* and return the result, in the first spelling that the peer knows."""
        if witness is None:
            return await self._delivered(letter, within)
        witness.sent(letter.body)
        try:
            result = await self._delivered(letter, within)
        except NoAnswerError as error:
            witness.missed(error)
            raise
        witness.heard(result)
        return result

    async def _delivered(self, letter: Letter, within: float | None) -> bytes | Raw:
        wait = within if within is not None else getattr(self._patience, letter.kind.route.wait)
        spelling, tried = self._spelling, Tried()
        while True:
            if self.breaker.is_open:
                self.breaker.admit(_now())
            number = next(self._numbers)
            try:
                answer = await self._post(self.url, spelling(letter, number), wait)
                self.breaker.succeeded()
                result = _result(answer.body, number, bare=spelling is _bare)
            except NoAnswerError as error:
                self._take_note(error)
                spelling = tried.instead_of(spelling, error)
            else:
                self._spelling = spelling
                return result

    def _take_note(self, error: NoAnswerError) -> None:
        """Count a peer that is not there; one that answers, however badly, is."""
        if isinstance(error, (LateError, UnreachableError)):
            self.breaker.failed(_now())
        else:
            self.breaker.succeeded()


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


def _now() -> float:
    return asyncio.get_running_loop().time()


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


def _check(request: Request[Any], reply: Message) -> None:
    """Refuse a reply of the wrong kind, of another match, or from another player."""
    wanted = request.reply
    if not isinstance(reply, wanted):
        detail = f"expected {name(wanted)}, got {name(type(reply))}"
        raise NonsenseError(detail, ErrorCode.UNKNOWN_MESSAGE_TYPE)
    if request.match_id is not None and reply.match_id not in (None, request.match_id):
        detail = f"match_id: expected {request.match_id!r}, got {reply.match_id!r}"
        raise NonsenseError(detail, ErrorCode.MATCH_ID_MISMATCH)
