"""A league whose manager is in this process: with its guests, its pages and its store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_league.guests import GuestDesk
from agent_league.http.exchange import Wire
from agent_league.league import LeagueManager
from agent_league.league.endpoint_gate import EndpointGate
from agent_league.running.folder import Folder
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store import EventLog
from agent_league.store.store import Store
from agent_league.vocabulary import Json
from agent_league.web.live_site import LiveSite


@dataclass(frozen=True)
class Look:
    """What people see of a league."""

    prefix: str = ""
    """Where its pages are, if other leagues have pages at the same address."""
    aliases: bool = False
    measure: Callable[[], dict[str, Json]] | None = None
    """Tells what only this process knows, if that is more than the manager does."""


class OpenLeague:
    """A manager that is reached at *url*, and what belongs to it."""

    def __init__(
        self,
        settings: LeagueSettings,
        wire: Wire,
        url: str,
        networks: Sequence[str] = (),
        look: Look | None = None,
        count_audience: Callable[[], int] | None = None,
    ) -> None:
        self.url, look = url, look or Look()
        self.manager = manager = LeagueManager(settings, wire, EventLog(), count_audience)
        manager.endpoint_gate = EndpointGate(networks, url)
        GuestDesk(manager, url)
        gauges = look.measure or manager.measure
        self.live_site = LiveSite(
            manager.season, manager.events, gauges, look.prefix, aliases=look.aliases
        )
        manager.spectators = self.live_site

    @property
    def season(self) -> Season:
        return self.manager.season

    @property
    def league_id(self) -> str:
        return self.manager.settings.league_id

    async def open(self, store: Store | None, folder: Folder) -> str | None:
        """Open the league, or resume it; return the organiser's token of a new one."""
        await self.manager.open(store)
        await self.live_site.open(store)
        token = await folder.appoint_organiser(self.manager)
        if store is not None:
            await store.announce(self.league_id, self.url)
            if queue := store.open_queue():
                self.manager.use_pool(queue, f"{self.url.removesuffix('/mcp')}/pool")
        return token

    async def run(self) -> None:
        """Play the season to its end, and show it to everybody who looks at the pages."""
        await self.manager.run()
        await self.live_site.close()
