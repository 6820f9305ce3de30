"""Messages to a peer that speaks league.v2, as the protocol writes it or in another form."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import count

import msgspec
from msgspec import Raw, UnsetType
from msgspec.structs import replace

from agent_league.dialects.dialect import Dialect, Outgoing, PeerSession, StartedCall
from agent_league.dialects.v2 import framings, order_forms, replies
from agent_league.dialects.v2.framings import DEFAULT_FRAMING, Framing, FramingAttempts, KindRecord
from agent_league.dialects.v2.inbound import V2Reader
from agent_league.dialects.v2.order_forms import Get
from agent_league.dialects.v2.repairs import preview
from agent_league.dialects.v2.writings import swap_ids, write_rounds_as_text
from agent_league.http.exchange import Answer, Post
from agent_league.own_time import own_time
from agent_league.protocol import Message, Request, RpcCode, failures, jsonrpc, name
from agent_league.protocol.contracts import schemas
from agent_league.protocol.deviations import NO_LEDGER, Deviation, Ledger
from agent_league.protocol.error_messages import GameErrorMessage, LeagueErrorMessage
from agent_league.protocol.failures import NoAnswerError, NonsenseError, RefusedError
from agent_league.protocol.fields import VERSION
from agent_league.protocol.play import StartMatch
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

_encode = msgspec.json.Encoder().encode
_RATE_LIMIT_TEXT = re.compile(rb'(?i:rate.?limit|too many requests)|"E027\b')
"""An id that an error repeats may have the letters of the code in it."""
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
        body = jsonrpc.encode_call(kind.route.tool, outgoing.body, number)
        answer = self._post(self._url, body, within)
        if not isinstance(answer, asyncio.Future):  # there is no connection yet
            answer = asyncio.ensure_future(answer)
        return StartedCall(outgoing, number, answer, ends)

    def read_started(self, started: StartedCall) -> Raw | None:
        if started.answer.cancelled() or started.answer.exception() is not None:
            return None
        body = started.answer.result().body
        result = jsonrpc.read_plain_result(body, started.number)
        return result if _is_expected(started.outgoing.kind, body) else None

    async def finish(self, started: StartedCall, ledger: Ledger) -> bytes | Raw:
        kind = started.outgoing.kind
        try:
            answer = await started.answer
            result = self.read_started(started)
            if result is not None:
                return result
            return self._read_result(kind, DEFAULT_FRAMING, started.number, answer, ledger)
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
        body, wanted, error = answer.body, _reply_name(kind), None
        number = None if framing.get_method is None else number  # it had no frame
        is_right = _is_expected(kind, body)
        if not is_right:
            _check_errors(kind, body, ledger)
        try:
            result = _read_frame(number, answer)
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
            raise _make_no_reply_error(kind, content, ledger)
        ledger.note(found.deviations)
        return _encode(found.body)


def _check_errors(kind: type[Message], body: bytes, ledger: Ledger) -> None:
    """Raise the error that an answer holds in place of a result."""
    if b'"error"' in body and _RATE_LIMIT_TEXT.search(body):  # without HTTP's 429
        raise failures.BusyError("it gets too many requests")
    if b"_ERROR" in body and ledger.keeps_account:
        replies.check_error_message(kind, body)


@cache
def _reply_name(kind: type[Message]) -> bytes | None:
    return name(kind.reply).encode() if issubclass(kind, Request) else None


def _is_expected(kind: type[Message], body: bytes) -> bool:
    """Whether *body* may hold the reply to a *kind*; to a notice, anything but an error."""
    wanted = _reply_name(kind)
    return b'"error"' not in body and (b"_ERROR" not in body if wanted is None else wanted in body)


def _make_no_reply_error(kind: type[Message], content: object, ledger: Ledger) -> NoAnswerError:
    promised = replies.is_promise(content) and kind is not StartMatch
    if ledger.strict:
        rule = rules.LATER_ANSWER if promised else rules.OK_TO_UNKNOWN
        ledger.add(Deviation(rule, preview(content)))
    if promised:
        is_sent = replies.says_sent(content)
        return failures.PromisedError("the answer is to come later", is_sent=is_sent)
    return failures.NoReplyError(f"not an answer to {name(kind)}: {preview(content)}")


def _read_frame(number: int | None, answer: Answer) -> bytes | Raw:
    """Return the result in an answer that is as it must be, or raise the error that it stands for."""
    body = answer.body
    try:
        frame = jsonrpc.read_response(body)
    except jsonrpc.FrameError as error:
        raise NonsenseError(error.detail) from error
    if isinstance(frame.error, jsonrpc.RpcError):
        refusal = replies.get_refusal(answer.status)
        raise refusal(frame.error.code, frame.error.message, frame.error.data)
    if number not in (None, frame.id):
        raise NonsenseError(f"the answer has the id {frame.id!r}, the request had {number}")
    if not isinstance(frame.result, UnsetType):
        return frame.result
    if number is not None:
        raise NonsenseError("the answer has neither a result nor an error")
    message = msgspec.json.decode(body)  # it came without a frame
    if message.get("message_type") in {"LEAGUE_ERROR", "GAME_ERROR"}:
        detail = message.get("detail") or message.get("error_description")
        raise RefusedError(RpcCode.INVALID_REQUEST, str(detail), message)
    return body


dialect = Dialect(
    name=VERSION,
    make_reader=V2Reader,
    connect=lambda peer, wire, clock: V2Session(peer.url, wire.post, wire.get),
    schemas=schemas,
)
