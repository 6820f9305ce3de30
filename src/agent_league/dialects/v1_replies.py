"""What a peer that speaks league.v1 answers: found, mended as far as it goes, put into our words."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from agent_league.dialects import rules
from agent_league.dialects import v1_messages as v1
from agent_league.dialects.mending import Body, Cure, accepts, shown
from agent_league.dialects.replies import Found, places
from agent_league.dialects.rules import Deviation
from agent_league.dialects.v1_messages import name_v1, read_v1
from agent_league.dialects.v1_names import player_v2
from agent_league.protocol import Message, ProtocolError, Request, Role, name
from agent_league.protocol.fields import VERSION
from agent_league.protocol.play import GameMoveCall, Invitation, ParityCall
from agent_league.protocol.registration import RegisterPlayer
from agent_league.vocabulary import Json

ANSWERS: Mapping[type[Message], type[v1.MessageV1]] = MappingProxyType(
    {
        RegisterPlayer: v1.RegisterResponse,
        Invitation: v1.InvitationResponse,
        ParityCall: v1.PlayResponse,
        GameMoveCall: v1.PlayResponse,
    }
)
"""What each request is answered with."""

_CULPRIT = re.compile(r"missing required field `([^`]+)`$| - at `\$\.([^.`\[]+)`$")
_COMMON: Final = frozenset(v1.MessageV1.__struct_fields__) | {"message_type"}


def find_v1(answer: Json, kind: type[v1.MessageV1]) -> Body | None:
    """Return where in *answer* a *kind* is; document 000 says nothing of frames."""
    for place, _ in places(answer):
        if isinstance(place, dict) and _looks_like(place, kind):
            return place
    return None


def _looks_like(body: Body, kind: type[v1.MessageV1]) -> bool:
    said = body.get("message_type")
    if isinstance(said, str):
        return said.upper() == name_v1(kind)
    return _SIGNS[kind](body)


_SIGNS: Mapping[type[v1.MessageV1], Callable[[Body], bool]] = {
    v1.RegisterResponse: lambda body: "status" in body and "player_id" in body,
    v1.InvitationResponse: lambda body: body.get("status") in {"READY", "DECLINED"},
    v1.PlayResponse: lambda body: "play" in body,
}
"""By what an answer is known that does not say what it is."""


def mended_v1(
    kind: type[v1.KindV1], body: Body, echo: Mapping[str, Json]
) -> tuple[v1.KindV1, list[Deviation]]:
    """Return *body* as a *kind*; what every message has is taken from *echo* where it is wrong.

    Raise `ProtocolError` if something else is.
    """
    cured, deviations = dict(body), list[Deviation]()
    for _ in _COMMON:
        try:
            return read_v1(kind, cured), deviations
        except ProtocolError as error:
            culprit = _CULPRIT.search(error.detail)
            field = (culprit[1] or culprit[2]) if culprit else ""
            if field not in _COMMON:
                raise
            missing = field not in body
            rule = rules.FIELD_MISSING if missing else rules.FIELD_INVALID
            got = f"no {field}" if missing else f"{field} {shown(body[field])}"
            deviations.append(Deviation(rule, got[:80]))
            cured[field] = echo[field]
    return read_v1(kind, cured), deviations


def _status(body: Body) -> Iterator[Deviation]:
    """Read another word for READY or DECLINED."""
    meant = accepts(body)
    if body.get("status") not in {"READY", "DECLINED"} and meant is not None:
        yield Deviation(rules.FIELD_INVALID, f"status {shown(body.get('status'))}"[:80])
        body["status"] = "READY" if meant else "DECLINED"


def _play(body: Body) -> Iterator[Deviation]:
    """Read a play that is only its value, or lacks its action."""
    play = body.get("play")
    whole = play if isinstance(play, dict) else {"value": play}
    if play is not None and "value" in whole and "action" not in whole:
        yield Deviation(rules.FIELD_MISSING, f"play {shown(play)}"[:80])
        body["play"] = {"action": "choose", **whole}


_CURES: Mapping[type[v1.MessageV1], tuple[Cure, ...]] = {
    v1.InvitationResponse: (_status,),
    v1.PlayResponse: (_play,),
}
"""What is mended in one kind of answer only."""


def meant_v1(request: type[Message], said: Body, found: Body, echo: Body, who: str) -> Found:
    """Return in our words what *found* answers to *said*, a *request*, and how it deviates."""
    if not issubclass(request, Request):
        raise TypeError(f"{name(request)} has no answer")
    kind = ANSWERS[request]
    own = {**echo, "message_type": name_v1(kind)}
    body = dict(found)
    habits = [deviation for cure in _CURES.get(kind, ()) for deviation in cure(body)]
    reply, deviations = mended_v1(kind, body, own)
    stamp = {
        "message_type": name(request.reply),
        "protocol": VERSION,
        "sender": f"{Role.PLAYER}:{who}",
        "timestamp": reply.timestamp,
        "conversation_id": said["conversation_id"],
    }
    return Found(
        {**stamp, **_CONTENTS[type(reply)](reply, who, request.reply)}, [*habits, *deviations]
    )


def _registered(reply: v1.RegisterResponse, who: str, kind: type[Message]) -> Body:
    admitted = player_v2(reply.player_id) if reply.player_id else None
    own = {"sender": Role.LEAGUE, "league_id": reply.league_id, "player_id": admitted}
    return {**own, "status": reply.status, "reason": reply.reason}


def _joined(reply: v1.InvitationResponse, who: str, kind: type[Message]) -> Body:
    ready = reply.status == "READY"
    own = {"match_id": reply.match_id, "player_id": who, "accept": ready}
    return {**own, "arrival_timestamp": reply.timestamp}


def _moved(reply: v1.PlayResponse, who: str, kind: type[Message]) -> Body:
    move = next(one.encode_name for one in msgspec.structs.fields(kind) if one.name == "move")
    return {"match_id": reply.match_id, "player_id": who, move: reply.play.value}


_CONTENTS: Mapping[type[v1.MessageV1], Callable[[Any, str, type[Message]], Body]] = {
    v1.RegisterResponse: _registered,
    v1.InvitationResponse: _joined,
    v1.PlayResponse: _moved,
}
