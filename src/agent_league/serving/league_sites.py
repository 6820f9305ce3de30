"""Several sites at one address, each under the path of its league."""

from urllib.parse import quote

from agent_league.http.site import MCP, Place, Site

PREFIX = "/leagues/"


def make_prefix(league_id: str) -> str:
    """Return the path under which a league is, without a slash at its end."""
    return f"{PREFIX}{quote(league_id, safe='')}"


def make_league_url(url: str, league_id: str) -> str:
    """Return the endpoint of a league at a server whose own endpoint is *url*."""
    return f"{url.removesuffix(MCP)}{make_prefix(league_id)}{MCP}"


class LeagueSites:
    """The sites of the leagues that are here now."""

    def __init__(self) -> None:
        self._sites: dict[str, Site] = {}

    def add(self, league_id: str, site: Site) -> None:
        self._sites[league_id] = site

    def remove(self, league_id: str) -> None:
        self._sites.pop(league_id, None)

    def find(self, path: str) -> Place | None:
        """Return the site of the league at *path*, and the path within it."""
        league_id, slash, rest = path.removeprefix(PREFIX).partition("/")
        site = self._sites.get(league_id) if slash and path.startswith(PREFIX) else None
        return (site, slash + rest) if site else None
