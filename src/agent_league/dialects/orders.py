"""The ways in which a referee may be told to play a match, other than START_MATCH.

Read, when our referee serves another house's manager; written, when theirs serves ours.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import msgspec

from agent_league.dialects import rules
from agent_league.dialects.rules import Deviation
from agent_league.protocol import tokens
from agent_league.protocol.play import StartMatch
from agent_league.protocol.reading import read_as
from agent_league.protocol.rounds import RoundAnnouncement
from agent_league.vocabulary import Json

Body: TypeAlias = dict[str, Json]

TYPES = ("MATCH_ASSIGNMENT", "START_MATCH", "ASSIGN_MATCH", "RUN_MATCH")
METHODS = frozenset({"assign_match", "run_match", "start_match", "match_assignment", *TYPES})


def read(frame: Body, now: str) -> tuple[StartMatch, list[Deviation]] | None:
    """Return the order in *frame* as START_MATCH writes it; None if it is none of a stranger's."""
    params = frame.get("params", frame if "method" not in frame else None)
    if not isinstance(params, dict):
        return None
    inside = [one for one in params.values() if isinstance(one, dict) and "match_id" in one]
    said = {**params, **inside[0]} if inside else params
    called = {str(said.get("message_type")).upper(), str(frame.get("method"))}
    players = contestants(said)
    if "ticket" in said or not called & METHODS or players is None or not said.get("match_id"):
        return None
    how = str(said.get("message_type") or frame.get("method"))
    return _order(said, players, now), [Deviation(rules.ORDER_FORM, how[:40])]


def announced(notice: RoundAnnouncement, endpoint: str) -> list[StartMatch]:
    """Return the orders in an announcement that says where the players of a match listen."""
    said = msgspec.to_builtins(notice)
    own = [match for match in said["matches"] if _same_place(match["referee_endpoint"], endpoint)]
    found = [({**said, **match}, contestants(match)) for match in own]
    return [_order(match, players, notice.timestamp) for match, players in found if players]


def _same_place(one: str, other: str) -> bool:
    """Whether two endpoints are likely one: a host has many names, and a port has one number."""
    found = [re.search(r":(\d+)(/|$)", url) for url in (one, other)]
    return one == other or (all(found) and len({match[1] for match in found if match}) == 1)


def _order(said: Mapping[str, Json], players: Sequence[Body], now: str) -> StartMatch:
    match_id = str(said["match_id"])
    numbered = re.match(r"R([1-9]\d{0,8})M", match_id)
    written = {
        "message_type": "START_MATCH",
        "protocol": "league.v2",
        "sender": "league_manager",
        "timestamp": now,
        "conversation_id": said.get("conversation_id") or f"conv-{match_id.lower()}",
        "auth_token": said.get("auth_token"),
        "league_id": said.get("league_id") or "unstated",
        "round_id": said.get("round_id") or (int(numbered[1]) if numbered else 1),
        "match_id": match_id,
        "game_type": said.get("game_type") or "even_odd",
        "players": [{**player, "ticket": tokens.new_ticket()} for player in players],
        "ticket": tokens.new_ticket(),
        "seed": secrets.token_hex(16),
    }
    return read_as(StartMatch, written)


def contestants(said: Mapping[str, Json]) -> list[Body] | None:
    """Return both players and where they listen, in whichever way *said* tells it."""
    players, urls = said.get("players"), said.get("player_endpoints")
    by_id = list(players.items()) if isinstance(players, dict) else players
    listed: Iterable[Any] = by_id if isinstance(by_id, list) else ()
    ways = [
        [_named(one) for one in listed],
        [_seat(said, *names, urls) for names in (("A", "a", "1"), ("B", "b", "2"))],
    ]
    return next(([p for p in way if p] for way in ways if len([p for p in way if p]) == 2), None)  # noqa: PLR2004 - seats


def _named(one: Json) -> Body | None:
    """Read a player as an object, or as an id with an object or an endpoint behind it."""
    if isinstance(one, tuple):
        who, where = one
        one = {"player_id": who, **(where if isinstance(where, dict) else {"endpoint": where})}
    if not isinstance(one, dict):
        return None
    return _player(one.get("player_id") or one.get("id"), _url(one))


def _url(one: Mapping[str, Json]) -> Json:
    return next((one[key] for key in ("endpoint", "contact_endpoint", "url") if one.get(key)), None)


def _seat(said: Mapping[str, Json], *names: Any) -> Body | None:
    *letters, urls = names
    for letter in letters:
        one = said.get(f"player_{letter}")
        who = said.get(f"player_{letter}_id") or (one if isinstance(one, str) else None)
        where = said.get(f"player_{letter}_endpoint")
        if isinstance(urls, dict):
            where = where or urls.get(str(who))
        found = _named(one) if isinstance(one, dict) else _player(who, where)
        if found:
            return found
    return None


def _player(who: Json, where: Json) -> Body | None:
    if isinstance(who, str) and isinstance(where, str) and who and where:
        return {"player_id": who, "endpoint": where}
    return None


def offered(order: StartMatch) -> Body:
    """Return *order* as a referee that asks for its matches is told it."""
    return _match(msgspec.to_builtins(order))


class Form(NamedTuple):
    """One way to order a match: the method, and what goes into params."""

    id: str
    method: str
    params: Callable[[Body], Body]


_OURS = ("ticket", "seed", "options", "patience", "retry", "transcript", "auto", "strictness")


def _match(order: Body) -> Body:
    """Return the match in all the shapes that strangers look for."""
    first, second = order["players"]
    plain = [{"player_id": p["player_id"], "endpoint": p["endpoint"]} for p in (first, second)]
    shapes: Body = {"players": plain}
    shapes["player_endpoints"] = {p["player_id"]: p["endpoint"] for p in plain}
    for seat, player in zip("AB", plain, strict=True):
        for letter in (seat, seat.lower()):
            shapes[f"player_{letter}_id"] = player["player_id"]
            shapes[f"player_{letter}_endpoint"] = player["endpoint"]
    kept = {key: value for key, value in order.items() if key not in (*_OURS, "auth_token")}
    return {**kept, **shapes}


def _typed(kind: str) -> Callable[[Body], Body]:
    return lambda order: {**_match(order), "message_type": kind}


def _announcement(order: Body) -> Body:
    match = _match(order)
    inside = {"match_id", "game_type", "players"} | {key for key in match if "player_" in key}
    one = {key: match[key] for key in match if key in inside}
    said = {key: match[key] for key in match if key not in inside}
    one["referee_endpoint"] = order.get("referee_endpoint", "")
    return {**said, "message_type": "ROUND_ANNOUNCEMENT", "matches": [one]}


FORMS: Sequence[Form] = (
    Form("START_MATCH", "start_match", dict),
    Form("START_MATCH", "START_MATCH", _match),
    Form("MATCH_ASSIGNMENT", "MATCH_ASSIGNMENT", _typed("MATCH_ASSIGNMENT")),
    Form("run_match", "run_match", _typed("RUN_MATCH")),
    Form("assign_match", "assign_match", _typed("MATCH_ASSIGNMENT")),
    Form("ROUND_ANNOUNCEMENT", "ROUND_ANNOUNCEMENT", _announcement),
    Form("ROUND_ANNOUNCEMENT", "notify_round", _announcement),
)
"""What a referee is tried with, in this order."""

STARTED: Mapping[str, bool] = MappingProxyType(
    {
        **dict.fromkeys(("ACCEPTED", "STARTED", "ASSIGNED", "RUNNING", "IN_PROGRESS"), True),
        **dict.fromkeys(("REJECTED", "REFUSED", "BUSY", "ERROR", "FAILED"), False),
    }
)
"""What a referee may say to an order, and whether it takes it; any other word says nothing."""
