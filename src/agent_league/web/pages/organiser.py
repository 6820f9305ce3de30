"""The controls of the organiser: forms whose calls the league accepts only with its token.

The page itself holds nothing secret and changes nothing. Its script calls the tools of the
organiser, with the token in a header that a browser never sends by itself: no other web page can
give an order in the organiser's name.
"""

from agent_league.protocol import Role
from agent_league.season.season import Stage
from agent_league.web.league_view import Data, LeagueView, list_matches
from agent_league.web.page import Arguments, Page
from agent_league.web.pages.health import sort_entries

SUGGESTED = 60


async def load(view: LeagueView, arguments: Arguments) -> Data:
    season = view.season
    ended = [one.match.match_id for one in list_matches(season) if one.status != "SCHEDULED"]
    return {
        "is_open": season.stage is Stage.REGISTRATION,
        "is_closed": season.registration_closed,
        "is_over": season.stage is Stage.COMPLETED,
        "paused": season.paused,
        "round_id": season.round_id,
        "rounds": season.total_rounds,
        "players": len(season.standings()),
        "awaited": season.settings.awaited_players,
        "agents": [
            {"id": one.agent_id, "name": view.name(one.agent_id), "state": one.state}
            for one in sort_entries(season.roster.of(Role.PLAYER, Role.REFEREE))
        ],
        "ended": ended[: -SUGGESTED - 1 : -1],
    }


page = Page(
    "/organiser",
    "organiser.html",
    "Organiser",
    load,
    menu=(8, "Organiser"),
    refreshes=False,
    is_shared=False,
    only_live=True,
)
