"""Every round, its matches and how they ended."""

from agent_league.protocol import Role
from agent_league.season import answers
from agent_league.web.league_view import Data, LeagueView, list_round
from agent_league.web.page import Arguments, Page

ROUNDS_AT_ONCE = 20


async def load(view: LeagueView, arguments: Arguments) -> Data:
    season, names = view.season, view.names()
    agent, total = arguments.get("agent", ""), season.total_rounds
    alone = agent in season.roster
    first = 1 if alone else _read_first(arguments.get("from", ""), season.round_id, total)
    last = total if alone else min(total, first + ROUNDS_AT_ONCE - 1)
    rounds = [
        {
            "round_id": round_id,
            "is_current": round_id == season.round_id,
            "matches": [
                {
                    "match_id": line.match.match_id,
                    "first": {"id": line.match.first, "name": names[line.match.first]},
                    "second": {"id": line.match.second, "name": names[line.match.second]},
                    "status": line.status,
                    "winner": line.winner,
                    "is_playing": line.status == "SCHEDULED"
                    and line.match.match_id in season.assignments,
                }
                for line in list_round(season, round_id)
                if not alone or line.has(agent)
            ],
        }
        for round_id in range(first, last + 1)
    ]
    players = [
        {"id": one.agent_id, "name": names[one.agent_id]} for one in season.roster.of(Role.PLAYER)
    ]
    pages = [
        {"first": start, "last": min(total, start + ROUNDS_AT_ONCE - 1), "is_here": start == first}
        for start in range(1, total + 1, ROUNDS_AT_ONCE)
    ]
    return {
        "rounds": rounds,
        "agent": agent if alone else "",
        "players": players,
        "pages": [] if alone or len(pages) == 1 else pages,
    }


def _read_first(wanted: str, current: int, total: int) -> int:
    """Return the first round to show: of the pages, the one that is asked for or is played now."""
    chosen = int(wanted) if wanted.isdecimal() and len(wanted) < 9 else max(1, current)  # noqa: PLR2004 - no round has more digits
    start = min(max(1, chosen), max(1, total))
    return (start - 1) // ROUNDS_AT_ONCE * ROUNDS_AT_ONCE + 1


page = Page(
    "/schedule",
    "schedule.html",
    "Schedule",
    load,
    menu=(2, "Schedule"),
    document=lambda view: answers.schedule(view.season),
)
