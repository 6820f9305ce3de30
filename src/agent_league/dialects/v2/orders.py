"""Other forms than START_MATCH in which third-party leagues order our referee to play a match."""

import re
import secrets
from collections.abc import Mapping, Sequence

import msgspec

from agent_league.dialects.v2.words import Body, guess_round, read_round
from agent_league.protocol import tokens
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.message import Result
from agent_league.protocol.play import MatchAccepted, StartMatch
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
    match_id = order.get("match_id") or order.get("game_id")
    if "ticket" in order or not names & METHODS or players is None or not match_id:
        return None
    label = str(order.get("message_type") or frame.get("method"))
    deviations = [Deviation(rules.ORDER_FORM, label[:40])]
    if frame.get("method") == "run_match" and not _REPORT_FIELDS & order.keys():
        deviations.append(
            Deviation(rules.RESULT_IN_ANSWER, "run_match is answered with the result")
        )
    return _build_order({**order, "match_id": match_id}, players, now), deviations


_REPORT_FIELDS = {"auth_token", "league_id", "round_id", "league_manager_endpoint", "message_type"}
"""What tells a referee where, or about what, to report; an order without them wants an answer."""


def extract_orders(
    notice: RoundAnnouncement, endpoint: str, *, by_id: bool = False
) -> list[StartMatch]:
    """Return the orders in an announcement of matches of the referee at *endpoint*.

    Without the endpoints of its players a match is only announced, unless players *by_id* will do.
    """
    announcement = msgspec.to_builtins(notice)
    return [
        _build_order({**announcement, **match}, players, notice.timestamp)
        for match in announcement["matches"]
        if _is_same_endpoint(match["referee_endpoint"], endpoint)
        and (players := find_players(match))
        and (by_id or all(player["endpoint"] != UNSTATED for player in players))
    ]


def format_answer(answer: Result) -> Result:
    """Return the answer to an order with the result, if it has one, as third parties look for it."""
    if not isinstance(answer, MatchAccepted) or answer.result is None:
        return answer
    result, plain = answer.result, msgspec.to_builtins(answer)
    choices, number = result.details.get("choices") or {}, result.details.get("drawn_number")
    flat: Body = {"game_id": answer.match_id, "winner": result.winner}
    for seat, player in enumerate(result.score, 1):
        flat |= {f"player{seat}": player, f"player{seat}_choice": choices.get(player) or "none"}
    parity = "none" if number is None else ("even", "odd")[number % 2]
    flat |= {"dice_roll": number or 0, "dice_parity": parity, "drawn_number": number}
    return {**plain, **flat, "choices": choices, "is_draw": result.winner is None}


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
        "round_id": read_round(fields.get("round_id", fields.get("round")))
        or guess_round(match_id),
        "match_id": match_id,
        "game_type": fields.get("game_type") or "even_odd",
        "players": [{**player, "ticket": tokens.new_ticket()} for player in players],
        "ticket": tokens.new_ticket(),
        "seed": secrets.token_hex(16),
    }
    return read_as(StartMatch, body)


def find_players(fields: Mapping[str, Json]) -> list[Body] | None:
    """Return both players, whichever fields hold them; None if not both.

    An endpoint that is not there is UNSTATED.
    """
    players = fields.get("players")
    by_id = list(players.items()) if isinstance(players, dict) else players
    listed = [_read_player(one) for one in by_id] if isinstance(by_id, list) else []
    seats = [_read_seat(fields, letters) for letters in ("Aa1", "Bb2")]
    whole = [found for one in (listed, seats) if len(found := [*filter(None, one)]) == SEATS]
    return min(whole, key=_count_unstated, default=None)


def _count_unstated(players: Sequence[Body]) -> int:
    return sum(player["endpoint"] == UNSTATED for player in players)


def _read_player(player: Json) -> Body | None:
    """Read a player as an object, or as an id with an object or an endpoint behind it."""
    if isinstance(player, tuple):
        who, where = player
        player = {"player_id": who, **(where if isinstance(where, dict) else {"endpoint": where})}
    if isinstance(player, str):
        player = {"player_id": player}
    if not isinstance(player, dict):
        return None
    who = next((player[key] for key in _ID_FIELDS if player.get(key)), None)
    where = next((player[key] for key in _ENDPOINT_FIELDS if player.get(key)), UNSTATED)
    is_whole = isinstance(who, str) and isinstance(where, str)
    return {"player_id": who, "endpoint": where} if is_whole else None


_ID_FIELDS = ("player_id", "id", "agent_id", "display_name", "name")
_ENDPOINT_FIELDS = ("endpoint", "contact_endpoint", "url")


def _read_seat(fields: Mapping[str, Json], letters: str) -> Body | None:
    """Read a player whose fields are named after its seat, by any of *letters*."""
    urls = fields.get("player_endpoints")
    for prefix in [f"player{dash}{letter}" for letter in letters for dash in ("_", "")]:
        player = fields.get(prefix)
        if not isinstance(player, dict):
            who = fields.get(f"{prefix}_id") or player
            where = fields.get(f"{prefix}_endpoint") or fields.get(f"{prefix}_url")
            by_id = urls.get(str(who)) if isinstance(urls, dict) else None
            player = {"player_id": who, "endpoint": where or by_id}
        if seat := _read_player(player):
            return seat
    return None
