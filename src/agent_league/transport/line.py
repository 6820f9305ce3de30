"""A way to reach one peer: a message goes out, and only a right answer comes back."""

import asyncio
from typing import Any, Protocol, TypeVar, cast

from msgspec import Raw

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
from agent_league.transport.exchange import Post
from agent_league.transport.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)
from agent_league.transport.retry import Breaker
from agent_league.transport.speech import LeagueSpeech, Letter, Speech, sealed

__all__ = ["Letter", "Line", "Witness", "sealed"]

Reply = TypeVar("Reply", bound=Message)


class Witness(Protocol):
    """Sees what goes over a line."""

    def sent(self, body: bytes) -> None: ...

    def heard(self, body: bytes | Raw) -> None: ...

    def missed(self, error: NoAnswerError) -> None: ...


class Line:
    """Reaches the agent at *url*, and remembers how it is spoken to."""

    def __init__(self, url: str, post: Post, patience: Patience, breaker: Breaker) -> None:
        self.url = url
        self.breaker = breaker
        self.speech: Speech = LeagueSpeech(url, post)
        """How the peer is spoken to; whoever finds out that it speaks otherwise changes it."""
        self._patience = patience

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
        """Send *letter* and return the result, in the peer's own dialect."""
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
        if self.breaker.is_open:
            self.breaker.admit(_now())
        try:
            result = await self.speech.deliver(letter, wait)
        except NoAnswerError as error:
            self._take_note(error)
            raise
        self.breaker.succeeded()
        return result

    def _take_note(self, error: NoAnswerError) -> None:
        """Count a peer that is not there; one that answers, however badly, is."""
        if isinstance(error, (LateError, UnreachableError)):
            self.breaker.failed(_now())
        else:
            self.breaker.succeeded()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _check(request: Request[Any], reply: Message) -> None:
    """Refuse a reply of the wrong kind, of another match, or from another player."""
    wanted = request.reply
    if not isinstance(reply, wanted):
        detail = f"expected {name(wanted)}, got {name(type(reply))}"
        raise NonsenseError(detail, ErrorCode.UNKNOWN_MESSAGE_TYPE)
    if request.match_id is not None and reply.match_id not in (None, request.match_id):
        detail = f"match_id: expected {request.match_id!r}, got {reply.match_id!r}"
        raise NonsenseError(detail, ErrorCode.MATCH_ID_MISMATCH)
