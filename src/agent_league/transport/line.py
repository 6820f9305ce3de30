"""A way to reach one peer: a message goes out, and only a right answer comes back."""

import asyncio
from typing import Any, Protocol, TypeVar, cast

import msgspec
from msgspec import Raw

from agent_league.dialects import Deviation, Ledger, replies, rules
from agent_league.dialects.ledger import unmended
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
    PromisedError,
    UnreachableError,
)
from agent_league.transport.retry import Breaker, CircuitOpenError
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
        self._open: dict[tuple[str | None, type[Message]], asyncio.Future[Message]] = {}
        """The questions of matches that wait for an answer, which may come as a request."""

    async def ask(
        self,
        request: Request[Reply],
        within: float | None = None,
        witness: Witness | None = None,
        ledger: Ledger | None = None,
    ) -> Reply:
        """Send *request* and return the reply, or raise a `NoAnswerError`.

        What deviates in the reply goes into the *ledger*; without one, nothing may.
        """
        if ledger is None or ledger.strict or request.match_id is None:
            result = await self.deliver(sealed(request), within, witness, ledger)
            return self._reply(request, _read(request, result, ledger), ledger)
        key = request.match_id, request.reply
        self._open[key] = posted = asyncio.get_running_loop().create_future()
        wait = self._wait(type(request), within)
        ends = _now() + wait
        try:
            result = await self.deliver(sealed(request), wait, witness, ledger)
            reply = _read(request, result, ledger)
        except (LateError, PromisedError) as error:
            reply = await _posted(posted, ends, error)
            ledger.note([Deviation(rules.LATER_ANSWER, f"{name(type(reply))} as a request")])
            if witness is not None:
                witness.heard(msgspec.json.encode(reply))
        finally:
            del self._open[key]
        return self._reply(request, reply, ledger)

    def posted(self, reply: Message) -> bool:
        """Take *reply*, which came as a request of its own; False if nobody asked for it."""
        asked = self._open.get((reply.match_id, type(reply)))
        if asked is None or asked.done():
            return False
        asked.set_result(reply)
        return True

    async def tell(
        self,
        notice: Notice,
        within: float | None = None,
        witness: Witness | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """Send *notice*, or raise a `NoAnswerError` if it is not taken."""
        await self.deliver(sealed(notice), within, witness, ledger)

    async def deliver(
        self,
        letter: Letter,
        within: float | None = None,
        witness: Witness | None = None,
        ledger: Ledger | None = None,
    ) -> bytes | Raw:
        """Send *letter* and return the result, in the peer's own dialect."""
        if witness is not None:
            witness.sent(letter.body)
        try:
            result = await self._admitted().deliver(letter, self._wait(letter.kind, within), ledger)
        except NoAnswerError as error:
            self._missed(error, witness)
            raise
        except ProtocolError as error:
            nonsense = _nonsense(error)
            self._missed(nonsense, witness)
            raise nonsense from error
        self.breaker.succeeded()
        if witness is not None:
            witness.heard(result)
        return result

    def _admitted(self) -> Speech:
        """Return how to speak to the peer, or raise if it is to be left alone for a while."""
        if self.breaker.is_open:
            self.breaker.admit(_now())
        return self.speech

    def _wait(self, kind: type[Message], within: float | None) -> float:
        return within if within is not None else getattr(self._patience, kind.route.wait)

    def _missed(self, error: NoAnswerError, witness: Witness | None) -> None:
        """Count a peer that is not there; one that answers, however badly, is."""
        if not isinstance(error, (LateError, UnreachableError)):
            self.breaker.succeeded()
        elif not isinstance(error, CircuitOpenError):  # which says only that it was not tried
            self.breaker.failed(_now())
        if witness is not None:
            witness.missed(error)

    def _reply(self, request: Request[Reply], reply: Message, ledger: Ledger | None) -> Reply:
        """Return *reply* if it answers *request*; whose it is says the line, not the reply."""
        _check(request, reply)
        said = getattr(reply, "player_id", None)
        if ledger is not None and ledger.who and said not in (None, ledger.who):
            _noted(ledger, Deviation(rules.PLAYER_ID_OTHER, str(said)[:80]))
            if isinstance(self.speech, LeagueSpeech):
                self.speech.alias = ledger.who, str(said)
            reply = msgspec.structs.replace(reply, player_id=ledger.who)
        return cast("Reply", reply)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _posted(
    posted: "asyncio.Future[Message]", ends: float, error: LateError | PromisedError
) -> Message:
    """Wait for an answer that was promised; one that came while we waited in vain counts too."""
    if isinstance(error, LateError) and not posted.done():
        raise error
    try:
        async with asyncio.timeout_at(ends):
            return await posted
    except TimeoutError:
        raise LateError("the answer that was promised did not come") from error


def _read(request: Request[Any], result: bytes | Raw, ledger: Ledger | None) -> Message:
    try:
        return read(result, meant=request.reply)
    except ProtocolError as error:
        if ledger is None:
            raise _nonsense(error) from error
        return _understood(request, result, ledger)


def _understood(request: Request[Any], result: bytes | Raw, ledger: Ledger) -> Message:
    """Return what a reply that is not quite right means, or raise `NonsenseError`."""
    try:
        said = msgspec.json.decode(result)
        found = replies.find({"result": said}, request.reply, None)
        body = found.body if found else said
        meant = replies.meant(request, body, ledger.who, request.timestamp)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise NonsenseError(f"not JSON: {error}") from error
    except ProtocolError as error:
        ledger.add(unmended(error.code, error.detail))
        raise _nonsense(error) from error
    for deviation in [*(found.deviations if found else ()), *meant.deviations]:
        _noted(ledger, deviation)
    return meant.reply


def _noted(ledger: Ledger, deviation: Deviation) -> None:
    try:
        ledger.note([deviation])
    except ProtocolError as error:
        raise _nonsense(error) from error


def _nonsense(error: ProtocolError) -> NonsenseError:
    return NonsenseError(error.detail, error.code, **error.context)


def _check(request: Request[Any], reply: Message) -> None:
    """Refuse a reply of the wrong kind, of another match, or from another player."""
    wanted = request.reply
    if not isinstance(reply, wanted):
        detail = f"expected {name(wanted)}, got {name(type(reply))}"
        raise NonsenseError(detail, ErrorCode.UNKNOWN_MESSAGE_TYPE)
    if request.match_id is not None and reply.match_id not in (None, request.match_id):
        detail = f"match_id: expected {request.match_id!r}, got {reply.match_id!r}"
        raise NonsenseError(detail, ErrorCode.MATCH_ID_MISMATCH)
