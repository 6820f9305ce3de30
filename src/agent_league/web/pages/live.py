"""The first page: the round, who plays now, the table, and what happened last."""

from typing import Any

from agent_league.season.season import Stage
from agent_league.web.league_view import (
    Data,
    LeagueView,
    count_all_matches,
    list_forms,
    list_round,
)
from agent_league.web.page import Arguments, Page
from agent_league.web.ticker import list_news

SHOWN_PLAYING = 12
PODIUM = 3


async def load(view: LeagueView, arguments: Arguments) -> Data:
    return describe_live(view)


def describe_live(view: LeagueView) -> Data:
    """Return the state of the league as the first page shows it."""
    season, rows = view.season, list_standings(view)
    playing = list_playing(view)
    return {
        "league_id": season.settings.league_id,
        "game_type": season.settings.game_type,
        "stage": season.stage,
        "paused": season.paused,
        "registration_closed": season.registration_closed,
        "announcement": season.announcement and season.announcement.text,
        "seq": view.seq,
        "progress": measure_progress(view),
        "standings": rows,
        "podium": rows[:PODIUM] if season.stage is Stage.COMPLETED else [],
        "playing": playing[:SHOWN_PLAYING],
        "more_playing": max(0, len(playing) - SHOWN_PLAYING),
        "news": list_news(view),
        "join": view.find_gauges().get("url") if view.find_gauges else None,
    }


def measure_progress(view: LeagueView) -> Data:
    """Return how far the league has come."""
    season = view.season
    round_lines = list_round(season, season.round_id) if season.round_id else []
    return {
        "round_id": season.round_id,
        "total_rounds": season.total_rounds,
        "round_done": sum(line.status != "SCHEDULED" for line in round_lines),
        "round_total": len(round_lines),
        "played": season.played,
        "total": count_all_matches(season),
        "players": len(season.players) or len(view.season.standings()),
        "awaited_players": season.settings.awaited_players,
        "referees": sum(entry.role == "referee" for entry in season.roster.entries()),
        "draws": season.tally["DRAW"],
        "technical_losses": season.tally["TECHNICAL_LOSS"],
    }


def list_standings(view: LeagueView) -> list[Data]:
    """Return the table, with the last matches of everybody and who moved in this round."""
    season, names = view.season, view.names()
    forms, before = list_forms(season), view.ranks_before_round()
    return [
        {
            "rank": row.rank,
            "id": row.player_id,
            "name": names[row.player_id],
            "played": row.played,
            "wins": row.wins,
            "draws": row.draws,
            "losses": row.losses,
            "points": row.points,
            "form": forms.get(row.player_id, ""),
            "moved": before.get(row.player_id, row.rank) - row.rank,
            "state": season.roster[row.player_id].state,
        }
        for row in season.standings()
    ]


def list_playing(view: LeagueView) -> list[dict[str, Any]]:
    """Return the matches that are being played, the first to begin first; no move is among it."""
    season = view.season
    return [
        {
            "match_id": given.match_id,
            "first": describe_agent(view, season.matches[given.match_id].first),
            "second": describe_agent(view, season.matches[given.match_id].second),
            "referee": describe_agent(view, given.referee_id),
            "since": given.at,
        }
        for given in season.assignments.values()
        if given.match_id not in season.results and given.match_id in season.matches
    ]


def describe_agent(view: LeagueView, agent_id: str) -> dict[str, str]:
    return {"id": agent_id, "name": view.name(agent_id)}


page = Page("/", "live.html", "Live", load, menu=(1, "Live"), aliases=("/live",), refreshes=False)
