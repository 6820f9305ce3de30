"""What the league answers when it is asked: pure looks at the season."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from agent_league.league.endings import Ending
from agent_league.league.season import Season
from agent_league.protocol import ErrorCode, ProtocolError, Role
from agent_league.store.events import MatchEnded, ScheduledMatch
from agent_league.vocabulary import Json

Params: TypeAlias = Mapping[str, Json]
Answer: TypeAlias = dict[str, Json]


def standings(season: Season, params: Params) -> Answer:
    return {"round_id": season.round_id, "standings": season.standings()}


def schedule(season: Season, params: Params) -> Answer:
    """Return all rounds, or the one that was asked for."""
    wanted = params.get("round_id")
    if wanted is None:
        rounds = list(range(1, season.total_rounds + 1))
    else:
        rounds = [_round_id(season, wanted)]
    return {"rounds": [round_of(season, round_id) for round_id in rounds]}


def round_of(season: Season, round_id: int) -> Answer:
    """Return one round: who meets whom, and how it ended."""
    matches, game_type = season.pairings(round_id), season.settings.game_type
    ended = zip(matches, season.endings_of(matches), strict=True)
    told = [_match(match, game_type, ending) for match, ending in ended]
    return {"round_id": round_id, "matches": told}


def next_match(season: Season, params: Params) -> Answer:
    player = _player(season, params)
    for round_id in range(max(1, season.round_id), season.total_rounds + 1):
        for match in season.pairings(round_id):
            if player in (match.first, match.second) and match.match_id not in season.results:
                return {"next_match": _next(season, round_id, match, player)}
    return {"next_match": None}


def player_stats(season: Season, params: Params) -> Answer:
    player = _player(season, params)
    entry = season.roster[player]
    shown: Answer = {
        "player_id": player,
        "display_name": entry.display_name,
        "state": entry.state,
        "violations": season.violations_of(player),
    }
    ranked = [row for row in season.standings() if row.player_id == player]
    if not ranked:
        return {**shown, "rank": None, "played": 0, "matches": []}
    row = ranked[0]
    played = [
        ended
        for ended in season.results.values()
        if player in ended.players and ended.match_id not in season.voided
    ]
    # A league that was taken up from a snapshot has only its latest results at hand.
    earlier = row.played - len(played)
    return {
        **shown,
        "rank": row.rank,
        "played": row.played,
        "wins": row.wins,
        "draws": row.draws,
        "losses": row.losses,
        "technical_losses": season.row(player).technical_losses,
        "points": row.points,
        "matches": [_played(ended) for ended in played],
        **({"earlier_matches": earlier} if earlier else {}),
    }


def status(season: Season) -> Answer:
    """Return where the league stands, for people; not one of the four queries."""
    agents = [
        {"agent_id": entry.agent_id, "role": entry.role, "display_name": entry.display_name}
        | {"state": entry.state, "endpoint": entry.endpoint}
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
        "awaited_players": season.settings.awaited_players,
        "strictness": season.settings.strictness,
        "agents": agents,
    }


ANSWERS: Mapping[str, Callable[[Season, Params], Answer]] = MappingProxyType(
    {
        "GET_STANDINGS": standings,
        "GET_SCHEDULE": schedule,
        "GET_NEXT_MATCH": next_match,
        "GET_PLAYER_STATS": player_stats,
    }
)
"""The four queries of the protocol."""


def _round_id(season: Season, wanted: Json) -> int:
    if type(wanted) is int and 1 <= wanted <= season.total_rounds:
        return wanted
    detail = f"round_id: expected an integer from 1 to {season.total_rounds}, got {wanted!r:.40}"
    raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail)


def _player(season: Season, params: Params) -> str:
    player = params.get("player_id")
    if player is None:
        detail = "player_id: a required field is missing in query_params"
        raise ProtocolError(ErrorCode.MISSING_REQUIRED_FIELD, detail)
    entry = season.roster.get(player) if isinstance(player, str) else None
    if entry is None or entry.role is not Role.PLAYER:
        detail = f"Player ID {player!s:.40} not found in registry"
        raise ProtocolError(ErrorCode.PLAYER_NOT_REGISTERED, detail)
    return entry.agent_id


def _match(match: ScheduledMatch, game_type: str, ending: Ending) -> Answer:
    status, winner = ending
    return {
        "match_id": match.match_id,
        "game_type": game_type,
        "player_A_id": match.first,
        "player_B_id": match.second,
        "status": status,
        "winner": winner,
    }


def _next(season: Season, round_id: int, match: ScheduledMatch, player: str) -> Answer:
    assigned = season.assignments.get(match.match_id)
    referee: Any = season.roster.get(assigned.referee_id) if assigned else None
    return {
        "match_id": match.match_id,
        "round_id": round_id,
        "opponent_id": match.second if player == match.first else match.first,
        "referee_endpoint": referee.endpoint if referee else None,
    }


def _played(ended: MatchEnded) -> Answer:
    return {
        "match_id": ended.match_id,
        "players": ended.players,
        "winner": ended.winner,
        "status": ended.status,
        "termination": ended.termination,
    }
