"""The table alone, for a wall or a print."""

from agent_league.season import answers
from agent_league.web.league_view import Data, LeagueView
from agent_league.web.page import Arguments, Page
from agent_league.web.pages.live import list_standings


async def load(view: LeagueView, arguments: Arguments) -> Data:
    return {
        "standings": list_standings(view),
        "round_id": view.season.round_id,
        "ranked_by": view.season.format.ranked_by,
        "tiebreakers": view.season.settings.scoring.tiebreakers,
    }


page = Page(
    "/standings",
    "standings.html",
    "Standings",
    load,
    document=lambda view: answers.standings(view.season),
)
