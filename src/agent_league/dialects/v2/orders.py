"""Other forms than START_MATCH in which third-party leagues order our referee to play a match."""

import re
import secrets
from collections.abc import Mapping, Sequence

import msgspec

from agent_league.dialects.v2.words import Body, guess_round
from agent_league.protocol import tokens
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.play import StartMatch
from agent_league.protocol.reading import read_as
from agent_league.protocol.requirements import rules
from agent_league.protocol.rounds import RoundAnnouncement
from agent_league.vocabulary import Json

TYPES = ("MATCH_ASSIGNMENT", "START_MATCH", "ASSIGN_MATCH", "RUN_MATCH")
SEATS = 2
METHODS = frozenset({"assign_match", "run_match", "start_match", "match_assignment", *TYPES})


def read_order(frame: Body, now: str) -> tuple[StartMatch, list[Deviation]] | None:
    """Return the order in *frame* as START_MATCH writes it; None if it holds no order in another form."""
    params = frame.get("params", frame if "method" not in frame else None)
    if not isinstance(params, dict):
        return None
    nested = [one for one in params.values() if isinstance(one, dict) and "match_id" in one]
    order = {**params, **nested[0]} if nested else params
    names = {str(order.get("message_type")).upper(), str(frame.get("method"))}
    players = find_players(order)
    if "ticket" in order or not names & METHODS or players is None or not order.get("match_id"):
        return None
    label = str(order.get("message_type") or frame.get("method"))
    return _build_order(order, players, now), [Deviation(rules.ORDER_FORM, label[:40])]


def extract_orders(notice: RoundAnnouncement, endpoint: str) -> list[StartMatch]:
    """Return the orders in an announcement that gives the endpoints of the players."""
    announcement = msgspec.to_builtins(notice)
    return [
        _build_order({**announcement, **match}, players, notice.timestamp)
        for match in announcement["matches"]
        if _is_same_endpoint(match["referee_endpoint"], endpoint)
        and (players := find_players(match))
    ]


def _is_same_endpoint(one: str, other: str) -> bool:
    """Whether two endpoints are probably the same: a host has many names, but a port one number."""
    ports = [re.search(r":(\d+)(/|$)", url) for url in (one, other)]
    return one == other or (all(ports) and len({match[1] for match in ports if match}) == 1)


def _build_order(fields: Mapping[str, Json], players: Sequence[Body], now: str) -> StartMatch:
    match_id = str(fields["match_id"])
    body = {
        "message_type": "START_MATCH",
        "protocol": "league.v2",
        "sender": "league_manager",
        "timestamp": now,
        "conversation_id": fields.get("conversation_id") or f"conv-{match_id.lower()}",
        "auth_token": fields.get("auth_token"),
        "league_id": fields.get("league_id") or UNSTATED,
        "round_id": fields.get("round_id") or guess_round(match_id),
        "match_id": match_id,
        "game_type": fields.get("game_type") or "even_odd",
        "players": [{**player, "ticket": tokens.new_ticket()} for player in players],
        "ticket": tokens.new_ticket(),
        "seed": secrets.token_hex(16),
    }
    return read_as(StartMatch, body)


def find_players(fields: Mapping[str, Json]) -> list[Body] | None:
    """Return both players and their endpoints, whichever fields hold them; None if not both."""
    players = fields.get("players")
    by_id = list(players.items()) if isinstance(players, dict) else players
    listed = [_read_player(one) for one in by_id] if isinstance(by_id, list) else []
    seats = [_read_seat(fields, letters) for letters in ("Aa1", "Bb2")]
    for candidates in (listed, seats):
        found = [player for player in candidates if player]
        if len(found) == SEATS:
            return found
    return None


def _read_player(player: Json) -> Body | None:
    """Read a player as an object, or as an id with an object or an endpoint behind it."""
    if isinstance(player, tuple):
        who, where = player
        player = {"player_id": who, **(where if isinstance(where, dict) else {"endpoint": where})}
    if not isinstance(player, dict):
        return None
    who = player.get("player_id") or player.get("id")
    where = player.get("endpoint") or player.get("contact_endpoint") or player.get("url")
    is_whole = isinstance(who, str) and isinstance(where, str) and who and where
    return {"player_id": who, "endpoint": where} if is_whole else None


def _read_seat(fields: Mapping[str, Json], letters: str) -> Body | None:
    """Read a player whose fields are named after its seat, by any of *letters*."""
    urls = fields.get("player_endpoints")
    for letter in letters:
        player = fields.get(f"player_{letter}")
        if not isinstance(player, dict):
            who = fields.get(f"player_{letter}_id") or player
            where = fields.get(f"player_{letter}_endpoint")
            by_id = urls.get(str(who)) if isinstance(urls, dict) else None
            player = {"player_id": who, "endpoint": where or by_id}
        if seat := _read_player(player):
            return seat
    return None
