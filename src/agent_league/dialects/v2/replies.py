"""Finds the reply in an answer of a third-party agent, and reads it as the protocol writes it."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Raw

from agent_league.dialects.v2 import repairs, report_forms
from agent_league.dialects.v2.repairs import UNREADABLE, preview
from agent_league.dialects.v2.words import Body, read_acceptance
from agent_league.protocol import (
    ErrorCode,
    Message,
    ProtocolError,
    Request,
    Role,
    RpcCode,
    name,
)
from agent_league.protocol.deviations import Deviation, Ledger, make_deviation
from agent_league.protocol.failures import (
    ERROR_MESSAGES,
    FailedError,
    NonsenseError,
    NoPathError,
    RefusedError,
    read_error_code,
)
from agent_league.protocol.fields import VERSION
from agent_league.protocol.play import GameMoveReply, JoinAck, MatchAccepted, ParityReply
from agent_league.protocol.reading import read_as
from agent_league.protocol.registration import PlayerRegistered, RefereeRegistered
from agent_league.protocol.requirements import Requirement, rules
from agent_league.vocabulary import Json

_FIRST_ERROR_STATUS: Final = 400
"""The first HTTP status that says no."""
_FIRST_SERVER_ERROR: Final = 500
"""The first HTTP status of a server that failed."""


def parse_answer(body: bytes) -> Json:
    """Return the JSON in *body*, or raise `NonsenseError`; an empty body is an empty object."""
    try:
        return msgspec.json.decode(body) if body else {}
    except UNREADABLE as error:
        raise NonsenseError(f"not JSON: {error}") from error


def check_status(status: int, content: Json) -> None:
    """Raise `RefusedError` if an answer with *content* says no, by its HTTP *status* or in words.

    Raise `NoPathError` if it only says that nothing is served there.
    """
    if status in _NO_PATH and _is_about_path(content):
        raise NoPathError(f"nothing is served at this path (HTTP {status})")
    if status >= _FIRST_ERROR_STATUS:
        raise get_refusal(status)(RpcCode.INVALID_REQUEST, f"HTTP {status} {preview(content)}")
    words = _find_refusal(content)
    if words is not None:
        raise RefusedError(RpcCode.INVALID_REQUEST, words[:200])


def get_refusal(status: int) -> type[RefusedError]:
    """Return what an error with the HTTP *status* is: a refusal, or a failure that may pass."""
    return FailedError if status >= _FIRST_SERVER_ERROR else RefusedError


_NO_PATH = {404, 405}
_PATH_WORDS = {"not found", "method not allowed"}
_NO_WORDS = {"error", "failed", "failure", "fail"}
_WORD_KEYS = ("message", "error", "detail", "reason", "description")


def _is_about_path(content: Json) -> bool:
    """Whether the body of a 404 or 405 comes from a server, not from the agent on it."""
    if not isinstance(content, dict):
        return True
    texts = [str(content[key]).lower() for key in _WORD_KEYS if key in content]
    return "jsonrpc" not in content and set(texts) <= _PATH_WORDS


def _find_refusal(content: Json) -> str | None:
    """Return the words of an answer that says no without an error; None if it does not."""
    inner = content.get("result", content) if isinstance(content, dict) else None
    if not isinstance(inner, dict) or "message_type" in inner:
        return None
    if inner.get("isError") is True:
        return preview(inner.get("content"))
    error, status = inner.get("error"), inner.get("status")
    says_no = isinstance(status, str) and status.lower() in _NO_WORDS
    if not says_no and not (isinstance(error, str) and error):
        return None
    texts = (inner[key] for key in _WORD_KEYS if isinstance(inner.get(key), str))
    return next(texts, preview(inner))


def check_error_message(kind: type[Message], body: bytes) -> None:
    """Raise `RefusedError` if the answer *body* to a *kind* holds LEAGUE_ERROR or GAME_ERROR.

    An agent may repeat the message that it acknowledges, so an error message proves nothing here.
    """
    if name(kind) in ERROR_MESSAGES:
        return
    for place, _ in iter_places(parse_answer(body)):
        if isinstance(place, dict) and place.get("message_type") in ERROR_MESSAGES:
            texts = (place.get(key) for key in ("detail", "error_description", "reason", "message"))
            detail = next((text for text in texts if isinstance(text, str)), preview(place))
            code = read_error_code(place) or ErrorCode.NOT_ALLOWED
            shown = f"{place.get('error_code') or ''} {detail}".strip()
            raise RefusedError(code.rpc, shown[:200], place)


class FoundReply(NamedTuple):
    """The reply in an answer, as the peer wrote it, and the deviations of the answer."""

    body: Body
    deviations: list[Deviation]


Place: TypeAlias = tuple[Json, Requirement | None]


def find_reply(
    answer: Json, reply: type[Message], number: int | None, *, from_tool: bool = False
) -> FoundReply | None:
    """Return the *reply* in *answer*; None if there is none.

    *number* is the id of the request; None if that had no frame. A tool may wrap what it returns.
    """
    recognize = _RECOGNIZERS.get(reply, lambda body: False)
    for place, rule in iter_places(answer):
        body = _make_body(place, reply)
        if body is not None and is_message(body, name(reply), recognize):
            is_unframed = rule is rules.REPLY_UNFRAMED and number is None
            is_wrapped = rule is rules.REPLY_WRAPPED and from_tool
            broken_rule = None if is_unframed or is_wrapped else rule
            got = f"an answer with {', '.join(sorted(map(str, answer)))}"
            deviations = [Deviation(broken_rule, got[:80])] if broken_rule else []
            return FoundReply(body, [*deviations, *_find_frame_deviations(answer, number)])
    return None


def _find_frame_deviations(answer: Json, number: int | None) -> Iterator[Deviation]:
    is_framed = isinstance(answer, dict) and {"jsonrpc", "result", "params"} & answer.keys()
    if not is_framed or number is None:
        return
    if answer.get("id") != number:
        yield Deviation(rules.REPLY_ID, f"id {preview(answer.get('id'))}")
    if "error" in answer and answer["error"] is None:
        yield Deviation(rules.REPLY_ERROR_NULL, '"error": null beside the result')


def iter_places(answer: Json) -> Iterator[Place]:
    """Yield the places in *answer* where a reply may be, the right place first."""
    if not isinstance(answer, dict):
        return
    places = {"result": rules.REPLY_WRAPPED, "params": rules.REPLY_IN_PARAMS}
    for key, rule in places.items():
        yield answer.get(key), None if key == "result" else rule
        yield from ((inner, rule) for inner in _iter_nested(answer.get(key)))
    if not places.keys() & answer.keys():
        yield answer, rules.REPLY_UNFRAMED
        yield from ((inner, rules.REPLY_UNFRAMED) for inner in _iter_nested(answer))


def _iter_nested(value: Json) -> Iterator[Json]:
    if isinstance(value, str):
        yield _parse_json(value)
    if not isinstance(value, dict):
        return
    parts = value.get("content")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield _parse_json(part["text"])
    yield from (inner for inner in value.values() if isinstance(inner, dict))


def _parse_json(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except UNREADABLE:
        return text


def _make_body(place: Json, reply: type[Message]) -> Body | None:
    if isinstance(place, str) and reply is ParityReply and place in {"even", "odd"}:
        return {"choice": place}
    if isinstance(place, (bool, str)) and reply is JoinAck:
        return {"accepted": place} if isinstance(place, bool) else {"status": place}
    return place if isinstance(place, dict) else None


def is_message(body: Body, wire_name: str, recognize: Callable[[Body], bool]) -> bool:
    """Whether *body* is the message *wire_name*; *recognize* decides if it has no message_type."""
    message_type = body.get("message_type")
    named = isinstance(message_type, str)
    return str(message_type).upper() == wire_name if named else recognize(body)


def _is_registration(body: Body) -> bool:
    has_id = bool({"player_id", "referee_id", "agent_id"} & body.keys())
    status = body.get("status")
    return isinstance(status, str) and (has_id or status.upper() in _VERDICTS)


_VERDICTS = {"ACCEPTED", "REGISTERED", "REJECTED", "REFUSED", "DENIED"}


_RECOGNIZERS: Mapping[type[Message], Callable[[Body], bool]] = {
    JoinAck: lambda body: "accept" in body or read_acceptance(body) is not None,
    ParityReply: lambda body: bool({"parity_choice", *repairs.CHOICE_FIELDS} & body.keys()),
    GameMoveReply: lambda body: "move" in body,
    PlayerRegistered: _is_registration,
    RefereeRegistered: _is_registration,
    MatchAccepted: lambda body: report_forms.read_start_status(body) is not None,
}
"""How to recognise a reply that has no message_type."""


_PROMISE_STATUSES = {"RECEIVED", "ACKNOWLEDGED", "ACK", "PENDING", "PROCESSING", "QUEUED"}
_SENT = re.compile(r"(JOINED|.*(SENT|SUBMITTED|POSTED|DELIVERED))")
"""How a peer says that it has posted its reply already."""


def is_promise(answer: Json) -> bool:
    """Whether *answer* says that the real answer comes later, or was posted."""
    return _find_status(answer) in _PROMISE_STATUSES or says_sent(answer)


def says_sent(answer: Json) -> bool:
    """Whether *answer* says that the peer has posted its reply before."""
    return _SENT.fullmatch(_find_status(answer)) is not None


def _find_status(answer: Json) -> str:
    """Return the one word that *answer* says, in capitals."""
    inner = answer.get("result", answer) if isinstance(answer, dict) else answer
    word = inner.get("status") if isinstance(inner, dict) else inner
    return word.upper() if isinstance(word, str) else ""


def interpret_result(
    request: Request[Any], result: bytes | Raw, ledger: Ledger, error: ProtocolError
) -> Message:
    """Return the reply to *request* that *result* means, as far as *ledger* lets it deviate.

    Raise `ProtocolError` if it means none; *error* is what is wrong with it as it stands.
    """
    if not ledger.keeps_account:
        raise error
    try:
        answer = msgspec.json.decode(result)
        candidate = find_reply({"result": answer}, request.reply, None)
        body = candidate.body if candidate else answer
        reply, deviations = interpret_reply(request, body, ledger.who, request.timestamp)
    except UNREADABLE:
        raise error from None
    except ProtocolError as refusal:
        ledger.add(make_deviation(refusal))
        raise
    for deviation in [*(candidate.deviations if candidate else ()), *deviations]:
        ledger.note([deviation])
    return reply


def interpret_reply(
    request: Request[Any], answer: Json, who: str, now: str
) -> tuple[Message, list[Deviation]]:
    """Return the reply to *request* that *answer*, by the agent *who*, means, and its deviations.

    Raise `ProtocolError` if that is not enough.
    """
    kind = request.reply
    fields = answer if isinstance(answer, dict) else {}
    own_id = {"player_id": who} if kind.route.sender[0] is Role.PLAYER else {}
    body, deviations = repairs.repair(kind, {**own_id, **fields}, now)
    envelope = make_envelope(kind, msgspec.structs.asdict(request), who, now)
    full_body = {**envelope, **body}
    missing = [key for key in _REQUIRED_FIELDS if envelope.get(key) and key not in fields]
    if missing and kind is not MatchAccepted:  # an addition of ours: third parties do not know it
        deviations.append(Deviation(rules.REPLY_ENVELOPE, f"no {', '.join(missing)}"[:80]))
    return read_as(kind, full_body), deviations


_REQUIRED_FIELDS = (
    "protocol",
    "message_type",
    "sender",
    "timestamp",
    "conversation_id",
    "match_id",
    "player_id",
    "arrival_timestamp",
)


def make_envelope(kind: type[Message], request: Mapping[str, Json], who: str, now: str) -> Body:
    """Return the envelope of a *kind* by the agent *who* that answers *request*."""
    fields = {field.encode_name for field in msgspec.structs.fields(kind)}
    role = kind.route.sender[0]
    envelope = {
        "protocol": VERSION,
        "sender": str(role) if role is Role.LEAGUE else f"{role}:{who or 'unnamed'}",
        "timestamp": now,
        "conversation_id": request["conversation_id"],
        "match_id": request.get("match_id"),
        **({"player_id": who, "arrival_timestamp": now} if role is Role.PLAYER else {}),
        **({"reason": None} if role is not Role.PLAYER else {}),
        "message_type": name(kind),
    }
    return {key: value for key, value in envelope.items() if key in {*fields, "message_type"}}
