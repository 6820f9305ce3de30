"""The line of an agent to a peer: a message goes out, a reply or a `NoAnswerError` comes back."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

import msgspec
from msgspec import Raw

from agent_league.dialects.dialect import (
    NothingSent,
    Outgoing,
    PeerSession,
    StartedBatch,
    StartedCall,
    encode_message,
)
from agent_league.own_time import own_time
from agent_league.peers.held import HeldReplies
from agent_league.peers.posted import PostedReplies
from agent_league.protocol import ErrorCode, Message, ProtocolError, failures, name, read
from agent_league.protocol.deviations import NO_LEDGER, Deviation, Ledger
from agent_league.protocol.failures import LateError, NoAnswerError, NonsenseError, PromisedError
from agent_league.protocol.message import Notice, Patience, Request
from agent_league.protocol.requirements import rules

Reply = TypeVar("Reply", bound=Message)


class LineObserver(Protocol):
    """Sees what a line sends and receives."""

    def record_sent(self, body: bytes) -> bytes:
        """Return what was written down."""
        ...

    def forget_sent(self, entry: bytes) -> None:
        """Take back what `record_sent` returned: the message was not sent after all."""

    def record_received(self, body: bytes | Raw) -> None: ...

    def record_error(self, error: NoAnswerError) -> None: ...


class Line:
    """Reaches one agent, in the *session* that suits it."""

    def __init__(self, session: PeerSession, patience: Patience) -> None:
        self.failures = 0
        """How many messages in a row the peer has not answered."""
        self.session = session
        """Knows the dialect of the peer; replaced if the peer turns out to speak another."""
        self.on_reply: Callable[[bytes | Raw | NoAnswerError], None] | None = None
        """Called with every result, or with the reason why there is none."""
        self._patience = patience
        self._posted = PostedReplies()
        """The requests of matches that wait for a reply, which the peer may post as a request."""
        self._held = HeldReplies()
        """Posted replies that anybody could have sent, until the peer itself says that it did."""

    async def ask(
        self,
        request: Request[Reply],
        within: float | None = None,
        observer: LineObserver | None = None,
        ledger: Ledger = NO_LEDGER,
        started: StartedCall | None = None,
    ) -> Reply:
        """Send *request* and return the reply, or raise a `NoAnswerError`.

        Deviations of the reply go into the *ledger*; without one, the reply may not deviate.
        If it was *started*, go on from there.
        """
        outgoing = started.outgoing if started else encode_message(request)
        if ledger.strict or request.match_id is None:
            result = await self.send(outgoing, within, observer, ledger, started)
            return self._check_reply(request, self._read_reply(request, result, ledger), ledger)
        started = started or self.start(outgoing, within, observer)
        ends = started.ends if started else own_time() + self._wait(outgoing.kind, within)
        self.open_question(request)
        try:
            result = await self.send(outgoing, within, observer, ledger, started)
            reply = self._read_reply(request, result, ledger)
        except (LateError, PromisedError) as error:
            is_sent = isinstance(error, PromisedError) and error.is_sent
            held = self._held.take(request) if is_sent else None
            question = request.match_id, request.reply
            reply = held or await self._posted.wait_for_reply(question, ends, error)
            ledger.note([_make_later_answer(reply)])
            if observer is not None:
                observer.record_received(msgspec.json.encode(reply))
        finally:
            self.close_question(request)
        return self._check_reply(request, reply, ledger)

    def open_question(self, request: Request[Any]) -> None:
        """Take the reply to *request* also if the peer posts it, until `close_question`."""
        self._posted.open((request.match_id, request.reply))

    def close_question(self, request: Request[Any]) -> None:
        if self._posted.close((request.match_id, request.reply)) and self._held.by_question:
            self._held.forget(request)

    def read_plain_reply(
        self, request: Request[Reply], started: StartedCall, who: str
    ) -> tuple[Any, Raw] | None:
        """Return the reply of *who* to a started *request*, read and as it came.

        None if it deviates in any respect: then `ask` goes on with it. Whoever takes the reply
        calls `record_result`.
        """
        result = self.session.read_started(started)
        return None if result is None else _read_plain_reply(request, result, who)

    def read_plain_replies(
        self, requests: Sequence[Request[Any]], started: StartedBatch, who: str
    ) -> tuple[list[Any], Sequence[Raw]] | None:
        """Return the replies to all *requests* of a batch, read and as they came.

        None if one of them deviates.
        """
        results = self.session.read_batch(started)
        if results is None:
            return None
        replies: list[Any] = []
        for request, result in zip(requests, results, strict=True):
            found = _read_plain_reply(request, result, who)
            if found is None:
                return None
            replies.append(found[0])
        return replies, results

    def take_posted_reply(self, reply: Message) -> bool:
        """Take *reply*, which the peer posted as a request; False if no request waits for it.

        The same question may be open twice: then one reply answers both.
        """
        return self._posted.take((reply.match_id, type(reply)), reply)

    def hold_posted_reply(self, reply: Message) -> bool:
        """Keep *reply*, which proves nothing; False if no request waits for it.

        It counts if the peer then answers, on our own connection, that it has sent its reply.
        """
        is_open = (reply.match_id, type(reply)) in self._posted
        if is_open:
            self._held.add(reply)
        return is_open

    async def tell(
        self,
        notice: Notice,
        within: float | None = None,
        observer: LineObserver | None = None,
        ledger: Ledger = NO_LEDGER,
    ) -> None:
        """Send *notice*, or raise a `NoAnswerError` if the peer does not take it."""
        await self.send(encode_message(notice), within, observer, ledger)

    async def send(
        self,
        outgoing: Outgoing,
        within: float | None = None,
        observer: LineObserver | None = None,
        ledger: Ledger = NO_LEDGER,
        started: StartedCall | None = None,
    ) -> bytes | Raw:
        """Send *outgoing* and return the result, in the peer's own dialect.

        If it was *started*, go on from there.
        """
        started = started or self.start(outgoing, within, observer)
        if started is not None:
            try:  # noqa: SIM105 - `suppress` takes ten times as long
                await started.answer
            except NoAnswerError:
                pass  # the session looks at it again: another form may succeed
            taken = self.session.read_started(started)
            if taken is not None:
                self.record_result(taken, observer, started.record)
                return taken
        return await self._send_in_any_form(outgoing, within, observer, ledger, started)

    async def _send_in_any_form(
        self,
        outgoing: Outgoing,
        within: float | None,
        observer: LineObserver | None,
        ledger: Ledger,
        started: StartedCall | None,
    ) -> bytes | Raw:
        """Return the result of *outgoing*; if it was *started*, its answer is not a plain one."""
        try:
            if started is not None:
                record = started.record
                result = await self.session.finish(started, ledger)
            else:
                record = observer.record_sent(outgoing.body) if observer is not None else b""
                wait = self._wait(outgoing.kind, within)
                result = await self.session.send(outgoing, wait, ledger)
        except NoAnswerError as error:
            self._record_failure(error, observer)
            raise
        except ProtocolError as error:
            nonsense = _make_nonsense_error(error)
            self._record_failure(nonsense, observer)
            raise nonsense from error
        self.record_result(result, observer, record)
        return result

    def start(
        self,
        outgoing: Outgoing,
        within: float | None = None,
        observer: LineObserver | None = None,
    ) -> StartedCall | None:
        """Send *outgoing* now, without a task; None if only `send` can do that for this peer.

        Whoever starts a call asks `is_taken` when its answer has come.
        """
        if within is None:
            within = self._wait(outgoing.kind, None)
        started = self.session.start(outgoing, within)
        if started is not None and observer is not None:
            started.record = observer.record_sent(outgoing.body)
        return started

    def is_taken(self, started: StartedCall, observer: LineObserver | None = None) -> bool:
        """Whether the answer to a started call is as it must be; if not, `send` goes on with it."""
        result = self.session.read_started(started)
        if result is not None:
            self.record_result(result, observer, started.record)
        return result is not None

    def start_batch(
        self,
        messages: Sequence[Outgoing],
        within: float | None = None,
        observer: LineObserver | None = None,
    ) -> StartedBatch | None:
        """Send *messages* now in one batch; None if they must be sent one by one.

        When the answer has come, `is_batch_taken` looks at that to notices, and
        `read_plain_replies` at that to requests.
        """
        if within is None:
            within = max([self._wait(message.kind, None) for message in messages])
        started = self.session.start_batch(messages, within)
        if started is not None and observer is not None:
            for message in messages:
                observer.record_sent(message.body)
        return started

    def is_batch_taken(self, started: StartedBatch) -> bool:
        """Whether every notice of a batch was taken; if not, each is sent again by itself."""
        results = self.session.read_batch(started)
        if results is None:
            return False
        self.failures = 0
        if self.on_reply is not None:
            for result in results:
                self.on_reply(result)
        return True

    def record_result(
        self, result: bytes | Raw, observer: LineObserver | None, record: bytes
    ) -> None:
        """Note that the peer has answered; *record* is what was written down when it was asked."""
        self.failures = 0
        if self.on_reply is not None:
            self.on_reply(result)
        if observer is not None:
            if isinstance(result, NothingSent):
                observer.forget_sent(record)
            else:
                observer.record_received(result)

    def _wait(self, kind: type[Message], within: float | None) -> float:
        return within if within is not None else getattr(self._patience, kind.route.wait)

    def _record_failure(self, error: NoAnswerError, observer: LineObserver | None) -> None:
        """Count a peer that does not answer; one that answers, even badly, is present."""
        is_absent = isinstance(error, (LateError, failures.UnreachableError))
        self.failures = self.failures + 1 if is_absent else 0
        if self.on_reply is not None:
            self.on_reply(error)
        if observer is not None:
            observer.record_error(error)

    def _read_reply(self, request: Request[Any], result: bytes | Raw, ledger: Ledger) -> Message:
        try:
            return read(result, expected=request.reply)
        except ProtocolError as error:
            problem = error
        try:
            confirmed = self._held.find_confirmed(
                request, lambda own: self.session.interpret_reply(request, result, own, problem)
            )
            if confirmed is None:
                return self.session.interpret_reply(request, result, ledger, problem)
            ledger.note([_make_later_answer(confirmed)])
        except ProtocolError as error:
            raise _make_nonsense_error(error) from error
        return confirmed

    def _check_reply(self, request: Request[Reply], reply: Message, ledger: Ledger) -> Reply:
        """Return *reply*, or raise `NonsenseError` if it is of the wrong kind or of another match.

        The connection decides which player this is; the id in the reply is ignored.
        """
        if not isinstance(reply, request.reply):
            detail = f"expected {name(request.reply)}, got {name(type(reply))}"
            raise NonsenseError(detail, ErrorCode.UNKNOWN_MESSAGE_TYPE)
        match_id = reply.match_id
        if match_id is not None and request.match_id not in (None, match_id):
            detail = f"match_id: expected {request.match_id!r}, got {match_id!r}"
            raise NonsenseError(detail, ErrorCode.MATCH_ID_MISMATCH)
        player_id = getattr(reply, "player_id", None)
        if ledger.who and player_id not in (None, ledger.who):
            try:
                ledger.note([Deviation(rules.PLAYER_ID_OTHER, str(player_id)[:80])])
            except ProtocolError as error:
                raise _make_nonsense_error(error) from error
            self.session.alias = ledger.who, str(player_id)
            reply = msgspec.structs.replace(reply, player_id=ledger.who)
        return cast("Reply", reply)


def _read_plain_reply(request: Request[Any], result: Raw, who: str) -> tuple[Any, Raw] | None:
    try:
        reply = read(result, expected=request.reply)
    except ProtocolError:
        return None
    is_right = type(reply) is request.reply and reply.match_id in (None, request.match_id)
    is_own = is_right and getattr(reply, "player_id", None) in (None, who)
    return (reply, result) if is_own else None


def _make_later_answer(reply: Message) -> Deviation:
    return Deviation(rules.LATER_ANSWER, f"{name(type(reply))} as a request")


def _make_nonsense_error(error: ProtocolError) -> NonsenseError:
    return NonsenseError(error.detail, error.code, **error.context)
