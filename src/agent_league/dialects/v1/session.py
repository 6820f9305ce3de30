"""Messages to a peer that speaks league.v1, and its replies."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from agent_league.dialects.dialect import Dialect, Outgoing, PeerSession
from agent_league.dialects.v1 import messages as v1
from agent_league.dialects.v1.inbound import V1Reader
from agent_league.dialects.v1.names import to_v2_player
from agent_league.dialects.v1.outbound import OutboundTranslator
from agent_league.dialects.v2 import replies
from agent_league.dialects.v2.repairs import Repair, preview
from agent_league.dialects.v2.replies import FoundReply
from agent_league.dialects.v2.words import Body, read_acceptance
from agent_league.http.exchange import Answer, Post
from agent_league.own_time import own_time
from agent_league.protocol import ProtocolError, Request, RpcCode, failures, name
from agent_league.protocol.deviations import NO_LEDGER, Deviation, Ledger, make_deviation
from agent_league.protocol.failures import NonsenseError, RefusedError
from agent_league.protocol.jsonrpc import encode_call
from agent_league.protocol.play import GameMoveCall, Invitation, ParityCall
from agent_league.protocol.registration import RegisterPlayer
from agent_league.protocol.requirements import rules
from agent_league.protocol.versions import V1
from agent_league.vocabulary import Json

_encode = msgspec.json.Encoder().encode
_OK: Final = b'{"status":"ok"}'
_FRAME_ERRORS: Final = {
    RpcCode.METHOD_NOT_FOUND,
    RpcCode.INVALID_REQUEST,
    RpcCode.INVALID_PARAMS,
    RpcCode.PARSE_ERROR,
}
"""The errors of a peer that wants the same message in another frame."""


Frame: TypeAlias = Callable[[Body, int], bytes]
FRAMES: tuple[Frame, ...] = (
    lambda message, number: encode_call(message["message_type"], _encode(message), number),
    lambda message, number: encode_call("handle_message", _encode(message), number),
    lambda message, number: _encode(message),
)
"""The frames of a message; document 000 does not define them, so each is tried in turn."""


def _repair_status(body: Body) -> Iterator[Deviation]:
    """Read another word for READY or DECLINED."""
    accept = read_acceptance(body)
    if body.get("status") not in {"READY", "DECLINED"} and accept is not None:
        yield Deviation(rules.FIELD_INVALID, f"status {preview(body.get('status'))}"[:80])
        body["status"] = "READY" if accept else "DECLINED"


def _repair_play(body: Body) -> Iterator[Deviation]:
    """Read a play that is only its value, or lacks its action."""
    play = body.get("play")
    full_play = play if isinstance(play, dict) else {"value": play}
    if play is not None and "value" in full_play and "action" not in full_play:
        yield Deviation(rules.FIELD_MISSING, f"play {preview(play)}"[:80])
        body["play"] = {"action": "choose", **full_play}


class ReplyForm(NamedTuple):
    """How the reply to one kind of request is found, repaired, and translated."""

    kind: type[v1.MessageV1]
    recognize: Callable[[Body], bool]
    """Whether a body without a message_type is the reply."""
    repair: Repair
    convert: Callable[[Any, str], Body]
    """Returns the fields of the reply in league.v2; the second argument is the name of the move."""


def _convert_registration(reply: v1.RegisterResponse, move: str) -> Body:
    player_id = to_v2_player(reply.player_id) if reply.player_id else None
    own = {"league_id": reply.league_id, "player_id": player_id}
    return {**own, "status": reply.status, "reason": reply.reason}


_REGISTRATION = ReplyForm(
    v1.RegisterResponse,
    lambda body: "status" in body and "player_id" in body,
    lambda body: iter(()),
    _convert_registration,
)
_JOIN = ReplyForm(
    v1.InvitationResponse,
    lambda body: body.get("status") in {"READY", "DECLINED"},
    _repair_status,
    lambda reply, move: {"match_id": reply.match_id, "accept": reply.status == "READY"},
)
_MOVE = ReplyForm(
    v1.PlayResponse,
    lambda body: "play" in body,
    _repair_play,
    lambda reply, move: {"match_id": reply.match_id, move: reply.play.value},
)
REPLY_FORMS: Mapping[type[Request[Any]], ReplyForm] = {
    RegisterPlayer: _REGISTRATION,
    Invitation: _JOIN,
    ParityCall: _MOVE,
    GameMoveCall: _MOVE,
}


def find_reply_v1(answer: Json, form: ReplyForm) -> Body:
    """Return the reply in *answer*, wherever it is: document 000 does not define frames.

    Raise `NoReplyError` if there is none.
    """
    wanted = name(form.kind)
    for place, _ in replies.iter_places(answer):
        if isinstance(place, dict) and replies.is_message(place, wanted, form.recognize):
            return place
    raise failures.NoReplyError(f"expected {wanted}, got {preview(answer)}")


def interpret_reply_v1(
    request: type[Request[Any]], request_body: Body, raw_reply: Body, defaults: Body, who: str
) -> FoundReply:
    """Return *raw_reply* to a *request* as league.v2 writes it, and its deviations."""
    form, body = REPLY_FORMS[request], dict(raw_reply)
    content_deviations = [*form.repair(body)]
    own = {**defaults, "message_type": name(form.kind)}
    reply, deviations = v1.repair_v1(form.kind, body, own)
    envelope = replies.make_envelope(request.reply, request_body, who, reply.timestamp)
    move = "parity_choice" if request is ParityCall else "move"
    full_body = {**envelope, **form.convert(reply, move)}
    return FoundReply(full_body, [*content_deviations, *deviations])


class V1Session(PeerSession):
    """Sends league.v1 to the peer *who* at *url*, in the frame that the peer turns out to understand."""

    dialect = V1
    reads_extras = True

    def __init__(self, url: str, post: Post, who: str) -> None:
        self._url, self._post, self._who = url, post, who
        self._numbers: Iterator[int] = count(1)
        self._translator = OutboundTranslator(who)
        self._frame: Frame | None = None
        """The frame in which the peer has answered a request."""

    interpret_reply = staticmethod(replies.interpret_result)

    async def send(self, outgoing: Outgoing, within: float, ledger: Ledger = NO_LEDGER) -> bytes:
        """Return the result of *outgoing* as league.v2 writes it, or raise a `NoAnswerError`."""
        kind, ends = outgoing.kind, own_time() + within
        body = msgspec.json.decode(outgoing.body)
        messages = self._translator.translate(kind, body, within, outgoing.get_extras)
        if messages is None and issubclass(kind, Request):
            raise RefusedError(RpcCode.METHOD_NOT_FOUND, f"league.v1 has no {name(kind)}")
        if not messages:
            return _OK
        *first, last = messages
        for message in first:
            with suppress(NonsenseError, RefusedError):  # a peer may refuse what comes before
                await self._send_message(message, None, ends)
        form = REPLY_FORMS[kind] if issubclass(kind, Request) else None
        raw_reply = await self._send_message(last, form, ends)
        if not issubclass(kind, Request):
            return _OK
        if "play" in raw_reply:
            self._translator.record_move(str(body.get("match_id")), raw_reply["play"])
        defaults = {**last, "sender": self._translator.who}
        try:
            reply = interpret_reply_v1(kind, body, raw_reply, defaults, self._who)
        except ProtocolError as error:
            ledger.add(make_deviation(error))
            raise
        ledger.note(reply.deviations)
        return _encode(reply.body)

    async def _send_message(self, message: Body, form: ReplyForm | None, ends: float) -> Body:
        """Return the reply to *message*, in the first frame that the peer understands.

        Without a *form* any answer will do.
        """
        first: failures.NoAnswerError | None = None
        for frame in (self._frame,) if self._frame else FRAMES:
            left = max(0.0, ends - own_time())
            try:
                answer = await self._post(self._url, frame(message, next(self._numbers)), left)
                payload = _read_answer(answer)
                if form is None:
                    return {}
                reply = find_reply_v1(payload, form)
                self._frame = frame
            except (failures.NoReplyError, RefusedError, failures.CrashedError) as error:
                first = first or error
                if isinstance(error, RefusedError) and error.rpc_code not in _FRAME_ERRORS:
                    raise
            else:
                return reply
        raise first or failures.NoReplyError("there is no frame for it")


def _read_answer(answer: Answer) -> Json:
    """Return the content of *answer*, or raise the error that it stands for."""
    payload = replies.parse_answer(answer.body)
    replies.check_status(answer.status, payload)
    problem = payload.get("error") if isinstance(payload, dict) else None
    if isinstance(problem, dict) and "result" not in payload:
        code = problem.get("code")
        rpc = code if type(code) is int else RpcCode.INVALID_REQUEST
        raise RefusedError(rpc, str(problem.get("message"))[:200], problem.get("data"))
    return payload


dialect = Dialect(
    name=V1,
    make_reader=V1Reader,
    connect=lambda peer, wire, clock: V1Session(peer.url, wire.post, peer.agent_id),
    schemas=v1.schemas_v1,
)
