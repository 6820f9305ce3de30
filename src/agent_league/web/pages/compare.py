"""Two agents side by side: results, ratings, points by round, and how sure the difference is."""

from collections.abc import Sequence
from statistics import NormalDist, fmean, variance

from agent_league.protocol import Role
from agent_league.tournament.ratings import CONFIDENCE, Ratings
from agent_league.tournament.standings import Scoring
from agent_league.web.league_view import Data, LeagueView, MatchLine, list_matches
from agent_league.web.page import Arguments, Page
from agent_league.web.pages.live import list_standings

FEW = 10
"""Of fewer matches no interval is shown: their spread says nothing yet."""


async def load(view: LeagueView, arguments: Arguments) -> Data:
    season = view.season
    ids = [row.player_id for row in season.standings()]
    players = [
        {"id": one.agent_id, "name": view.name(one.agent_id)}
        for one in season.roster.of(Role.PLAYER)
    ]
    first = arguments.get("a", "") if arguments.get("a") in ids else (ids or [""])[0]
    others = [one for one in ids if one != first]
    second = arguments.get("b", "") if arguments.get("b") in others else (others or [""])[0]
    base: Data = {"players": players, "a": first, "b": second, "sides": [], "between": []}
    if not second:
        return base
    lines = list(list_matches(season))
    rows = {row["id"]: row for row in list_standings(view)}
    sides = [_describe_side(view, rows[one], lines) for one in (first, second)]
    found = await view.ratings.read()
    for side in sides:
        side["rating"], side["rating_reach"] = _find_rating(found, side["id"])
    gap, reach = found.compare(first, second)
    return base | {
        "sides": sides,
        "gap": gap,
        "gap_reach": reach,
        "between": [
            {"match_id": one.match.match_id, "a": one.mark_for(first), "b": one.mark_for(second)}
            for one in lines
            if one.has(first) and one.has(second) and one.status != "SCHEDULED"
        ],
        "certainty": find_certainty(gap, reach),
    }


def _describe_side(view: LeagueView, row: Data, lines: Sequence[MatchLine]) -> Data:
    scoring, player = view.season.settings.scoring, row["id"]
    own = [one for one in lines if one.has(player)]
    each = [
        score_mark(scoring, one.mark_for(player))
        for one in own
        if one.mark_for(player) not in {"", "V"}
    ]
    return {
        **row,
        "each": each,
        "mean": fmean(each) if each else None,
        "interval": find_interval(each),
        "history": _sum_by_round(view, player, own),
    }


def score_mark(scoring: Scoring, mark: str) -> int:
    """Return the points for a match with this mark."""
    return {"W": scoring.win, "D": scoring.draw, "L": scoring.loss}.get(
        mark, scoring.technical_loss
    )


def _sum_by_round(view: LeagueView, player: str, own: Sequence[MatchLine]) -> list[int]:
    """Return the points of a player after each round."""
    scoring, history, total = view.season.settings.scoring, [0], 0
    for round_id in range(1, view.season.round_id + 1):
        marks = [one.mark_for(player) for one in own if one.match.round_id == round_id]
        total += sum(score_mark(scoring, mark) for mark in marks if mark not in {"", "V"})
        history.append(total)
    return history


def find_interval(points: Sequence[float]) -> tuple[float, float] | None:
    """Return the interval in which the true mean lies with 95 % confidence; None for too few."""
    if len(points) < FEW:
        return None
    half = CONFIDENCE * (variance(points) / len(points)) ** 0.5
    return fmean(points) - half, fmean(points) + half


def find_certainty(gap: float, reach: float | None) -> float | None:
    """Return how probable it is that the first is the stronger, by the gap of their ratings."""
    return NormalDist().cdf(CONFIDENCE * gap / reach) if reach else None


def _find_rating(found: Ratings, player: str) -> tuple[float, float | None]:
    return next((row.value, row.reach) for row in found.rows if row.player == player)


page = Page("/compare", "compare.html", "Compare", load, menu=(6, "Compare"))
