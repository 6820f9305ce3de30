"""What an answer amounts to: where in it the reply is, and what that says in the protocol's words."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import msgspec

from agent_league.dialects import rules
from agent_league.dialects.mending import CHOICES, Body, accepts, kind_of, mended, shown
from agent_league.dialects.orders import STARTED
from agent_league.dialects.rules import Deviation, Rule
from agent_league.protocol import Message, Request, Role, name
from agent_league.protocol.fields import VERSION
from agent_league.protocol.play import GameMoveReply, JoinAck, MatchAccepted, ParityReply
from agent_league.protocol.reading import read_as
from agent_league.protocol.registration import PlayerRegistered, RefereeRegistered
from agent_league.vocabulary import Json


class Found(NamedTuple):
    """The reply in an answer, as it was written there, and how the answer deviates."""

    body: Body
    deviations: list[Deviation]


Place: TypeAlias = tuple[Json, Rule | None]


def find(said: Json, reply: type[Message], number: int | None) -> Found | None:
    """Return where in the answer *said* the *reply* is; None if it is nowhere.

    *number* is the id of the request; None if that had no frame.
    """
    for place, rule in places(said):
        body = _as_body(place, reply)
        if body is not None and _looks_like(body, reply):
            broken = rule if rule is not rules.REPLY_UNFRAMED or number is not None else None
            habits = [Deviation(broken, _where(said))] if broken else []
            return Found(body, [*habits, *_frame_habits(said, number)])
    return None


def _frame_habits(said: Json, number: int | None) -> Iterator[Deviation]:
    framed = isinstance(said, dict) and ("jsonrpc" in said or "result" in said or "params" in said)
    if not framed or number is None:
        return
    if said.get("id") != number:
        yield Deviation(rules.REPLY_ID, f"id {shown(said.get('id'))}")
    if "error" in said and said["error"] is None:
        yield Deviation(rules.REPLY_ERROR_NULL, '"error": null beside the result')


def places(said: Json) -> Iterator[Place]:
    """Yield where a reply may stand, the right place first."""
    if not isinstance(said, dict):
        return
    yield said.get("result"), None
    for inner in _inside(said.get("result")):
        yield inner, rules.REPLY_WRAPPED
    yield said.get("params"), rules.REPLY_IN_PARAMS
    for inner in _inside(said.get("params")):
        yield inner, rules.REPLY_IN_PARAMS
    if "result" not in said and "params" not in said:
        yield said, rules.REPLY_UNFRAMED
        for inner in _inside(said):
            yield inner, rules.REPLY_UNFRAMED


def _inside(said: Json) -> Iterator[Json]:
    if isinstance(said, str):
        yield _parsed(said)
    if not isinstance(said, dict):
        return
    for part in said.get("content") or () if isinstance(said.get("content"), list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield _parsed(part["text"])
    yield from (inner for inner in said.values() if isinstance(inner, dict))


def _parsed(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _as_body(place: Json, reply: type[Message]) -> Body | None:
    if isinstance(place, str) and reply is ParityReply and place in {"even", "odd"}:
        return {"choice": place}
    if isinstance(place, (bool, str)) and reply is JoinAck:
        return {"accepted": place} if isinstance(place, bool) else {"status": place}
    return place if isinstance(place, dict) else None


def _looks_like(body: Body, reply: type[Message]) -> bool:
    if "message_type" in body and isinstance(body["message_type"], str):
        return kind_of(body["message_type"]) is reply
    return _SIGNS.get(reply, _no_sign)(body)


def _no_sign(body: Body) -> bool:
    return False


def _registered(body: Body) -> bool:
    return "status" in body and bool({"player_id", "referee_id", "agent_id"} & body.keys())


_SIGNS: Mapping[type[Message], Callable[[Body], bool]] = MappingProxyType(
    {
        JoinAck: lambda body: "accept" in body or accepts(body) is not None,
        ParityReply: lambda body: bool({"parity_choice", *CHOICES} & body.keys()),
        GameMoveReply: lambda body: "move" in body,
        PlayerRegistered: _registered,
        RefereeRegistered: _registered,
        MatchAccepted: lambda body: _started(body) is not None,
    }
)
"""By what a reply is known that does not say what it is."""


def _started(body: Mapping[str, Json]) -> bool | None:
    """Return whether a referee takes a match, None if its words do not say."""
    status = body.get("status")
    if isinstance(status, str) and status.upper() in STARTED:
        return STARTED[status.upper()]
    return accepts(body) if "status" not in body else None


def _where(said: Json) -> str:
    return f"an answer with {', '.join(sorted(map(str, said)))}"[:80]


_LATER = {"RECEIVED", "ACKNOWLEDGED", "ACK", "PENDING", "PROCESSING", "QUEUED"}


def promises(said: Json) -> bool:
    """Whether an answer says that the real one comes later."""
    inner = said.get("result", said) if isinstance(said, dict) else said
    word = inner.get("status") if isinstance(inner, dict) else inner
    return isinstance(word, str) and word.upper() in _LATER


def meant(request: Request[Any], said: Json, who: str, now: str) -> "Meant":
    """Return the reply to *request* that *said*, by the agent *who*, amounts to.

    Raise `ProtocolError` if that is not enough.
    """
    kind = request.reply
    given = said if isinstance(said, dict) else {}
    body, deviations = mended(kind, given, now)
    habits = _CURES.get(kind, _nothing)(body)
    filled = {**_envelope(request, kind, who, now), **body}
    missing = [key for key in _REQUIRED if key in filled and key not in given]
    if missing and kind is not MatchAccepted:  # that one is ours, and a stranger cannot know it
        deviations.append(Deviation(rules.REPLY_ENVELOPE, f"no {', '.join(missing)}"[:80]))
    return Meant(read_as(kind, filled), [*deviations, *habits])


class Meant(NamedTuple):
    """A reply, and in what it deviates."""

    reply: Message
    deviations: list[Deviation]


_REQUIRED = (
    "protocol",
    "message_type",
    "sender",
    "timestamp",
    "conversation_id",
    "match_id",
    "player_id",
    "arrival_timestamp",
)


def _envelope(request: Request[Any], kind: type[Message], who: str, now: str) -> Body:
    fields = {field.encode_name for field in msgspec.structs.fields(kind)}
    role = kind.route.sender[0]
    whole = {
        "protocol": VERSION,
        "sender": str(role) if role is Role.LEAGUE else f"{role}:{who or 'unnamed'}",
        "timestamp": now,
        "conversation_id": request.conversation_id,
        "match_id": request.match_id,
        **({"player_id": who, "arrival_timestamp": now} if role is Role.PLAYER else {}),
        **({"reason": None} if role is not Role.PLAYER else {}),
        "message_type": name(kind),
    }
    return {key: value for key, value in whole.items() if key in {*fields, "message_type"}}


_ADMITTED = {"ACCEPTED", "REGISTERED", "OK", "SUCCESS", "CONFIRMED"}


def _nothing(body: Body) -> list[Deviation]:
    return []


def _admission(body: Body) -> list[Deviation]:
    """Read the words with which another house's manager lets an agent in."""
    said = body.get("status")
    if said in ("ACCEPTED", "REJECTED"):
        return []
    admitted = isinstance(said, str) and said.upper() in _ADMITTED
    body["status"] = "ACCEPTED" if admitted else "REJECTED"
    return [Deviation(rules.REGISTER_STATUS, shown({"status": said}))]


def _player_admitted(body: Body) -> list[Deviation]:
    body.setdefault("player_id", body.get("agent_id"))
    return _admission(body)


def _referee_admitted(body: Body) -> list[Deviation]:
    body.setdefault("referee_id", body.get("agent_id"))
    return _admission(body)


def _match_taken(body: Body) -> list[Deviation]:
    if body.get("status") not in ("ACCEPTED", "REJECTED"):
        body["status"] = "ACCEPTED" if _started(body) else "REJECTED"
    return []


_CURES: Mapping[type[Message], Callable[[Body], list[Deviation]]] = MappingProxyType(
    {
        PlayerRegistered: _player_admitted,
        RefereeRegistered: _referee_admitted,
        MatchAccepted: _match_taken,
    }
)
