"""A way to reach one peer: a message goes out, and only a right answer comes back."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple, TypeVar, cast

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


SPELLINGS: tuple[Callable[[Letter, int], bytes], ...] = (_by_tool, _by_message_type, _bare)
"""How a call may be put, in the order in which a peer that does not understand is tried."""


class Line:
    """Reaches the agent at *url*, and remembers how it likes to be called."""

    def __init__(self, url: str, post: Post, patience: Patience, breaker: Breaker) -> None:
        self.url = url
        self.breaker = breaker
        self._post = post
        self._patience = patience
        self._numbers: Iterator[int] = count(1)
        self._spelling = 0

    async def ask(self, request: Request[Reply], within: float | None = None) -> Reply:
        """Send *request* and return the reply, or raise a `NoAnswerError`."""
        result = await self.deliver(sealed(request), within)
        try:
            reply = read(result, meant=request.reply)
        except ProtocolError as error:
            raise NonsenseError(error.detail, error.code, **error.context) from error
        _check(request, reply)
        return cast("Reply", reply)

    async def tell(self, notice: Notice, within: float | None = None) -> None:
        """Send *notice*, or raise a `NoAnswerError` if it is not taken."""
        await self.deliver(sealed(notice), within)

    async def deliver(self, letter: Letter, within: float | None = None) -> bytes | Raw:
        """Send *letter* and return the result, in the first spelling that the peer knows."""
        wait = within if within is not None else getattr(self._patience, letter.kind.route.wait)
        while True:
            if self.breaker.is_open:
                self.breaker.admit(_now())
            number, spelling = next(self._numbers), SPELLINGS[self._spelling]
            try:
                answer = await self._post(self.url, spelling(letter, number), wait)
                self.breaker.succeeded()
                return answer.body if spelling is _bare else _unframed(answer.body, number)
            except NoAnswerError as error:
                self._take_note(error)
                if not self._spell_differently(error):
                    raise

    def _take_note(self, error: NoAnswerError) -> None:
        """Count a peer that is not there; one that answers, however badly, is."""
        if isinstance(error, (LateError, UnreachableError)):
            self.breaker.failed(_now())
        else:
            self.breaker.succeeded()

    def _spell_differently(self, error: NoAnswerError) -> bool:
        """Turn to the next spelling if that may help; after the last start over, and give up."""
        if not isinstance(error, RefusedError) or error.rpc_code != METHOD_NOT_FOUND:
            return False
        self._spelling = (self._spelling + 1) % len(SPELLINGS)
        return self._spelling != 0


def _now() -> float:
    return asyncio.get_running_loop().time()


def _unframed(body: bytes, number: int) -> bytes | Raw:
    try:
        frame = read_returned(body)
    except FrameError as error:
        raise NonsenseError(error.detail) from error
    if isinstance(frame.error, Problem):
        raise RefusedError(frame.error.code, frame.error.message, frame.error.data)
    if frame.id != number:
        raise NonsenseError(f"the answer has the id {frame.id!r}, the request had {number}")
    if isinstance(frame.result, UnsetType):
        raise NonsenseError("the answer has neither a result nor an error")
    return frame.result


def _check(request: Request[Any], reply: Message) -> None:
    """Refuse a reply of the wrong kind, of another match, or from another player."""
    wanted = request.reply
    if not isinstance(reply, wanted):
        detail = f"expected {name(wanted)}, got {name(type(reply))}"
        raise NonsenseError(detail, ErrorCode.UNKNOWN_MESSAGE_TYPE)
    if request.match_id is not None and reply.match_id not in (None, request.match_id):
        detail = f"match_id: expected {request.match_id!r}, got {reply.match_id!r}"
        raise NonsenseError(detail, ErrorCode.MATCH_ID_MISMATCH)
