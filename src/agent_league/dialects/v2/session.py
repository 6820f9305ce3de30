"""Messages to a peer that speaks league.v2, as the protocol writes it or in another form."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Iterator, Sequence
from itertools import count

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from agent_league.dialects.dialect import (
    Dialect,
    Outgoing,
    PeerSession,
    StartedBatch,
    StartedCall,
)
from agent_league.dialects.v2 import framings, order_forms, replies
from agent_league.dialects.v2.answers import (
    check_errors,
    has_error,
    is_expected,
    make_no_reply_error,
    read_frame,
    reply_name,
)
from agent_league.dialects.v2.framings import DEFAULT_FRAMING, Framing, FramingAttempts, KindRecord
from agent_league.dialects.v2.inbound import V2Reader
from agent_league.dialects.v2.order_forms import Get
from agent_league.dialects.v2.writings import swap_ids, write_rounds_as_text
from agent_league.http.exchange import Answer, Post
from agent_league.own_time import own_time
from agent_league.protocol import Message, Request, RpcCode, failures, jsonrpc
from agent_league.protocol.contracts import schemas
from agent_league.protocol.deviations import NO_LEDGER, Deviation, Ledger
from agent_league.protocol.error_messages import GameErrorMessage, LeagueErrorMessage
from agent_league.protocol.failures import NoAnswerError, NonsenseError, RefusedError
from agent_league.protocol.fields import VERSION
from agent_league.protocol.jsonrpc import encode_call
from agent_league.protocol.play import StartMatch
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

_encode = msgspec.json.Encoder().encode
_ERRORS = (GameErrorMessage, LeagueErrorMessage)
FIRST_PAUSE = 0.2
"""Seconds before a busy peer gets the request again; each pause is twice the last."""


class V2Session(PeerSession):
    """Sends league.v2 to the peer at *url*, in the form that the peer turns out to understand."""

    dialect = VERSION

    def __init__(self, url: str, post: Post, get: Get | None = None) -> None:
        self._url, self._post, self._get = url, post, get
        self._numbers: Iterator[int] = count(1)
        self._default_framing = DEFAULT_FRAMING
        self._order_path: str | None = None
        """Where the peer takes orders, if it is no message to its endpoint."""
        self._records: dict[type[Message], KindRecord] = defaultdict(KindRecord)

    interpret_reply = staticmethod(replies.interpret_result)

    def start(self, outgoing: Outgoing, within: float) -> StartedCall | None:
        kind = outgoing.kind
        if kind in self._records or self._default_framing is not DEFAULT_FRAMING or self.alias:
            return None
        number, ends = next(self._numbers), own_time() + within
        answer = self._post(self._url, encode_call(kind.route.tool, outgoing.body, number), within)
        return StartedCall(outgoing, number, _make_future(answer), ends)

    def start_batch(self, messages: Sequence[Outgoing], within: float) -> StartedBatch | None:
        if self._records or self._default_framing is not DEFAULT_FRAMING or self.alias:
            return None
        ends = own_time() + within
        numbers: list[int] = []  # a call of `list[int]` takes ten times as long
        calls: list[bytes] = []
        for message in messages:
            number = next(self._numbers)
            numbers.append(number)
            calls.append(encode_call(message.kind.route.tool, message.body, number))
        answer = self._post(self._url, jsonrpc.encode_batch(calls), within)
        return StartedBatch(messages, numbers, _make_future(answer), ends)

    def read_batch(self, started: StartedBatch) -> list[Raw] | None:
        try:
            body = started.answer.result().body
        except (NoAnswerError, asyncio.CancelledError):
            return None
        return None if has_error(body) else jsonrpc.read_plain_results(body, started.numbers)

    def read_started(self, started: StartedCall) -> Raw | None:
        try:
            body = started.answer.result().body
        except (NoAnswerError, asyncio.CancelledError):
            return None
        result = jsonrpc.read_plain_result(body, started.number)
        return result if is_expected(started.outgoing.kind, body) else None

    async def finish(self, started: StartedCall, ledger: Ledger) -> bytes | Raw:
        kind, number = started.outgoing.kind, started.number
        try:
            answer = await started.answer
            return self._read_result(kind, DEFAULT_FRAMING, number, answer, ledger)
        except NoAnswerError as error:
            return await self._send_in_any_form(started.outgoing, started.ends, ledger, error)

    async def send(
        self, outgoing: Outgoing, within: float, ledger: Ledger = NO_LEDGER
    ) -> bytes | Raw:
        """Return the result of *outgoing*, in the first form that the peer understands."""
        return await self._send_in_any_form(outgoing, own_time() + within, ledger)

    async def _send_in_any_form(
        self,
        outgoing: Outgoing,
        ends: float,
        ledger: Ledger,
        error: NoAnswerError | None = None,
    ) -> bytes | Raw:
        """Do the same until *ends*; *error* is how the first attempt failed, if there was one."""
        kind, record = outgoing.kind, self._records[outgoing.kind]
        try:
            return await self._try_forms(outgoing, ends, ledger, error)
        finally:
            if record == KindRecord():  # nothing was learned: the peer takes the right form
                self._records.pop(kind, None)
            else:  # another call may have removed it meanwhile
                self._records[kind] = record

    async def _try_forms(
        self, outgoing: Outgoing, ends: float, ledger: Ledger, error: NoAnswerError | None
    ) -> bytes | Raw:
        kind, record = outgoing.kind, self._records[outgoing.kind]
        framing, pause = record.framing or self._default_framing, FIRST_PAUSE
        # The error is that of the right form, whatever another call has learned meanwhile.
        framing = framing if error is None else DEFAULT_FRAMING
        attempts: FramingAttempts | None = None
        while True:
            try:
                if error is not None:
                    raise error
                result = await self._try_form(outgoing, framing, ends, ledger)
                break
            except failures.BusyError as busy:
                if not ledger.keeps_account or own_time() + pause >= ends:
                    raise
                ledger.note([Deviation(rules.RATE_LIMIT, str(busy)[-60:])])
                await asyncio.sleep(pause)
                pause *= 2
            except NoAnswerError as failure:
                attempts = attempts or self._open_attempts(kind, record, ledger)
                if kind is StartMatch and isinstance(failure, failures.NoReplyError):
                    result = self._assume_accepted(outgoing, attempts)
                    break
                framing = attempts.choose_next(framing, failure)
            error = None
        if attempts is not None or framing is not DEFAULT_FRAMING or record.hopeless:
            self._learn(framing, attempts or FramingAttempts(kind, record, ledger))
        return result

    async def _try_form(
        self, outgoing: Outgoing, framing: Framing, ends: float, ledger: Ledger
    ) -> bytes | Raw:
        number, left = next(self._numbers), ends - own_time()
        body = self._write(outgoing, framing, number)
        url = await self._locate(outgoing, framing, left) if framing.form else self._url
        answer = await self._post(url, body, left)
        return self._read_result(outgoing.kind, framing, number, answer, ledger)

    def _write(self, outgoing: Outgoing, framing: Framing, number: int) -> bytes:
        if self.alias is not None:
            outgoing = replace(outgoing, body=swap_ids(*self.alias, outgoing.body))
        if framing.form is not None:  # a report may come before the answer does
            self._records[outgoing.kind].framing = framing
        return framing.encode(outgoing, number, self._url)

    async def _locate(self, outgoing: Outgoing, framing: Framing, within: float) -> str:
        """Return where an order is posted; raise `RefusedError` if the peer says no such place."""
        if framing.form is None or framing.form.path is None:
            return self._url
        path: str | None = framing.form.path or self._order_path
        if not path and self._get is not None:
            path = self._order_path = await order_forms.find_order_path(
                self._url, self._get, within
            )
        if not path:
            raise RefusedError(RpcCode.METHOD_NOT_FOUND, "there is no /openapi.json with orders")
        return order_forms.locate_order(self._url, path, msgspec.json.decode(outgoing.body))

    def describe_order(self, order: StartMatch) -> Json:
        return order_forms.format_match(msgspec.to_builtins(order))

    def uses_other_form(self, kind: type[Message]) -> bool:
        record = self._records.get(kind)
        if record is None:
            return self._default_framing.form is not None
        return record.reworded or (record.framing or self._default_framing).form is not None

    def understands(self, kind: type[Message]) -> bool:
        return kind not in self._records or not self._records[kind].hopeless

    def forget(self, kind: type[Message]) -> None:
        self._records.pop(kind, None)

    def is_doubtful(self, kind: type[Message]) -> bool:
        record = self._records.get(kind)
        return record is not None and record.doubtful and not record.proven

    def confirm(self, kind: type[Message]) -> None:
        self._records[kind].proven = True

    def try_next_form(self, kind: type[Message]) -> bool:
        record, forms = self._records[kind], framings.list_framings(kind)
        record.doubtful = False
        last = record.framing or self._default_framing
        position = forms.index(last) + 1 if last in forms else 0
        if position < len(forms):
            record.framing = forms[position]
        return position < len(forms)

    def _assume_accepted(self, outgoing: Outgoing, attempts: FramingAttempts) -> bytes:
        """Take an order as accepted whose answer says nothing; its effect will show.

        A peer that has just reported another form as unknown means its "ok".
        """
        if not attempts.has_unknown_error:
            self._records[outgoing.kind].doubtful = True
        order = msgspec.json.decode(outgoing.body)
        return _encode({"status": "ACCEPTED", "match_id": order.get("match_id")})

    def _learn(self, framing: Framing, attempts: FramingAttempts) -> None:
        """Remember that the peer understands *framing*."""
        record, ledger = attempts.record, attempts.ledger
        record.hopeless = False
        if attempts.errors or record.framing:
            record.framing = framing
            if (attempts.errors or record.reason) and framing.form is None:
                self._default_framing = framing
                self.reads_extras = framing.write is write_rounds_as_text
        if ledger.keeps_account:
            ledger.note(attempts.find_deviations(framing))

    def _open_attempts(
        self, kind: type[Message], record: KindRecord, ledger: Ledger
    ) -> FramingAttempts:
        """Begin to try other forms; many agents know no error messages, which says nothing of others."""
        unknown = [other for other, known in self._records.items() if known.hopeless]
        notices = [other for other in unknown if not issubclass(other, (Request, *_ERRORS))]
        knows_no_notice = not record.hopeless and bool(notices)
        return FramingAttempts(kind, record, ledger, knows_no_notice=knows_no_notice)

    def _read_result(
        self,
        kind: type[Message],
        framing: Framing,
        number: int | None,
        answer: Answer,
        ledger: Ledger,
    ) -> bytes | Raw:
        """Return the result in *answer* to a call with the id *number*, or raise its error."""
        if kind in self._records:
            self._records[kind].doubtful = False
        body, wanted, error = answer.body, reply_name(kind), None
        number = None if framing.get_method is None else number  # it had no frame
        is_right = is_expected(kind, body)
        if not is_right:
            check_errors(kind, body, ledger)
        try:
            result = read_frame(number, answer)
            if (is_right and not framing.is_tool_call) or not ledger.keeps_account:
                return result
        except NonsenseError as problem:
            if not ledger.keeps_account or (ledger.strict and wanted is None):
                raise
            error = problem
        return self._search_result(kind, framing, number, answer, ledger, error)

    def _search_result(
        self,
        kind: type[Message],
        framing: Framing,
        number: int | None,
        answer: Answer,
        ledger: Ledger,
        error: NonsenseError | None,
    ) -> bytes:
        """Return the result of an answer that deviates."""
        try:
            content = replies.parse_answer(answer.body)
        except NonsenseError as problem:
            replies.check_status(answer.status, None)
            raise error or problem from None
        if not issubclass(kind, Request):  # any answer to a notice will do, unless it says no
            replies.check_status(answer.status, content)
            return b'{"status":"ok"}'
        self._records[kind].reworded = True
        found = replies.find_reply(content, kind.reply, number, from_tool=framing.is_tool_call)
        if found is None:
            replies.check_status(answer.status, content)
            raise make_no_reply_error(kind, content, ledger)
        ledger.note(found.deviations)
        return _encode(found.body)


def _make_future(answer: Awaitable[Answer]) -> "asyncio.Future[Answer]":
    if isinstance(answer, asyncio.Future):  # faster than `ensure_future`, which looks again
        return answer
    return asyncio.ensure_future(answer)  # there is no connection yet


dialect = Dialect(
    name=VERSION,
    make_reader=V2Reader,
    connect=lambda peer, wire, clock: V2Session(peer.url, wire.post, wire.get),
    schemas=schemas,
)
