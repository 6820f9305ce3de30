"""The answers to questions about a season: the four queries of the protocol, and the status."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec

from agent_league.protocol import ErrorCode, ProtocolError, Role
from agent_league.season.endings import VOIDED
from agent_league.season.season import Season
from agent_league.store.events import MatchEnded, ScheduledMatch
from agent_league.vocabulary import Json

Params: TypeAlias = Mapping[str, Json]
QueryData: TypeAlias = dict[str, Json]
NO_PARAMS: Params = MappingProxyType({})
_AGENT_KEYS = ("agent_id", "role", "display_name", "state", "endpoint")
_RESULT_KEYS = ("match_id", "players", "winner", "status", "termination")


def standings(season: Season, params: Params = NO_PARAMS) -> QueryData:
    return {"round_id": season.round_id, "standings": season.standings()}


def find_champion(season: Season) -> str:
    """Return who leads the table; nobody, if the league was ended before it began."""
    return season.standings()[0].player_id if season.players else ""


def schedule(season: Season, params: Params = NO_PARAMS) -> QueryData:
    """Return all rounds, or the one in `round_id`."""
    wanted, total = params.get("round_id"), season.total_rounds
    if wanted is None:
        return {"rounds": [describe_round(season, one) for one in range(1, total + 1)]}
    if type(wanted) is int and 1 <= wanted <= total:
        return {"rounds": [describe_round(season, wanted)]}
    detail = f"round_id: expected an integer from 1 to {total}, got {wanted!r:.40}"
    raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail)


def describe_round(season: Season, round_id: int) -> QueryData:
    """Return who meets whom in a round, and how each match ended."""
    matches = season.pairings(round_id)
    rows = [
        {
            "match_id": match.match_id,
            "game_type": match.game_type or season.settings.game_type,
            "player_A_id": match.first,
            "player_B_id": match.second,
            "status": status,
            "winner": winner,
            **describe_void(season, match.match_id),
        }
        for match, (status, winner) in zip(matches, season.endings_of(matches), strict=True)
    ]
    return {"round_id": round_id, "matches": rows}


def describe_void(season: Season, match_id: str) -> QueryData:
    """Return why a match does not count and which is played instead; empty if it counts."""
    if match_id not in season.voided:
        return {}
    return {
        "void_reason": season.voided[match_id],
        "replayed_as": season.find_replay(match_id),
    }


def next_match(season: Season, params: Params) -> QueryData:
    player = _read_player_id(season, params)
    for match in season.list_unplayed_replays():
        if player in (match.first, match.second):
            return {"next_match": _describe_next_match(season, match, player)}
    for round_id in range(max(1, season.round_id), season.total_rounds + 1):
        for match in season.pairings(round_id):
            if player in (match.first, match.second) and match.match_id not in season.results:
                return {"next_match": _describe_next_match(season, match, player)}
    return {"next_match": None}


def player_stats(season: Season, params: Params) -> QueryData:
    player = _read_player_id(season, params)
    entry = season.roster[player]
    stats: QueryData = {
        "player_id": player,
        "display_name": entry.display_name,
        "state": entry.state,
        "violations": season.violations_of(player),
    }
    rows = season.standings() if player in season.players else []
    row = next((row for row in rows if row.player_id == player), None)
    if row is None:
        return {**stats, "rank": None, "played": 0, "matches": []}
    results = [ended for ended in season.results.values() if player in ended.players]
    # A season that was restored from a snapshot has only its latest results.
    earlier = row.played - sum(ended.match_id not in season.voided for ended in results)
    return {
        **stats,
        **msgspec.structs.asdict(row),
        "technical_losses": season.row(player).technical_losses,
        "matches": [_describe_result(season, ended) for ended in results],
        **({"earlier_matches": earlier} if earlier else {}),
    }


def _describe_result(season: Season, ended: MatchEnded) -> QueryData:
    fields: QueryData = {key: getattr(ended, key) for key in _RESULT_KEYS}
    void = describe_void(season, ended.match_id)
    return {**fields, "status": VOIDED, **void} if void else fields


def status(season: Season) -> QueryData:
    """Return the state of the league and of every agent, for people."""
    agents = [
        {key: getattr(entry, key) for key in _AGENT_KEYS}
        | {"violations": season.violations_of(entry.agent_id)}
        for entry in season.roster.of(Role.REFEREE, Role.PLAYER)
    ]
    return {
        "league_id": season.settings.league_id,
        "game_type": season.settings.game_type,
        "stage": season.stage,
        "paused": season.paused,
        "round_id": season.round_id,
        "total_rounds": season.total_rounds,
        "matches_played": season.played,
        "voided": season.voided,
        "announcement": season.announcement and season.announcement.text,
        "awaited_players": season.settings.awaited_players,
        "strictness": season.settings.strictness,
        "agents": agents,
        **({"ended_early": season.ended_early} if season.ended_early else {}),
    }


ANSWERS: Mapping[str, Callable[[Season, Params], QueryData]] = MappingProxyType(
    {
        "GET_STANDINGS": standings,
        "GET_SCHEDULE": schedule,
        "GET_NEXT_MATCH": next_match,
        "GET_PLAYER_STATS": player_stats,
    }
)
"""The four queries of the protocol."""


def _read_player_id(season: Season, params: Params) -> str:
    player = params.get("player_id")
    if player is None:
        detail = "player_id: a required field is missing in query_params"
        raise ProtocolError(ErrorCode.MISSING_REQUIRED_FIELD, detail)
    entry = season.roster.get(player) if isinstance(player, str) else None
    if entry is None or entry.role is not Role.PLAYER:
        detail = f"Player ID {player!s:.40} not found in registry"
        raise ProtocolError(ErrorCode.PLAYER_NOT_REGISTERED, detail)
    return entry.agent_id


def _describe_next_match(season: Season, match: ScheduledMatch, player: str) -> QueryData:
    assignment = season.assignments.get(match.match_id)
    referee: Any = season.roster.get(assignment.referee_id) if assignment else None
    return {
        "match_id": match.match_id,
        "round_id": match.round_id,
        "opponent_id": match.second if player == match.first else match.first,
        "referee_endpoint": referee.endpoint if referee else None,
    }
