"""Runs many leagues in one process: creates them, resumes them, and lets go of those that are over."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from agent_league.agent import log
from agent_league.hosting.directory import Directory, HostedLeague
from agent_league.http.exchange import Wire
from agent_league.league.endpoint_gate import choose_networks
from agent_league.protocol import LeagueError, tokens
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import Leftovers
from agent_league.running.file_keeper import keep_files
from agent_league.running.folder import Folder
from agent_league.running.house import Houses
from agent_league.running.open_league import Look, OpenLeague
from agent_league.running.serve import LOOPBACK
from agent_league.running.specs import MANAGER_PORT, AgentSpec, LeagueLink
from agent_league.season.settings import LeagueSettings
from agent_league.serving.league_sites import LeagueSites, make_league_url, make_prefix
from agent_league.store import Event
from agent_league.store.store import LeagueRow, Store
from agent_league.vocabulary import Level


@dataclass(frozen=True)
class ServerSpec:
    """A server of leagues: where it listens, and the referees that its leagues share."""

    port: int = MANAGER_PORT
    host: str = LOOPBACK
    endpoint: str | None = None
    """The address that others use, if that is not where it listens."""
    referees: Sequence[AgentSpec] = ()
    networks: Sequence[str] = ()
    """Where agents may listen; see `LeagueSpec`."""
    log_level: Level = "INFO"


class Created(NamedTuple):
    """A league that is open, and the token of its organiser, which is told only once."""

    hosted: HostedLeague
    token: str | None


@dataclass(frozen=True)
class Place:
    """What all leagues of a server share."""

    spec: ServerSpec
    folder: Folder
    store: Store
    wire: Wire
    url: str
    """The endpoint of the server."""
    houses: Houses


Tell = Callable[[HostedLeague, Event], None]


class LeagueServer:
    """The leagues of one server; *tell* gets every event of each."""

    def __init__(self, place: Place, token: str, tell: Tell = lambda hosted, event: None) -> None:
        self.place, self._tell = place, tell
        self.directory = Directory()
        self.sites = LeagueSites()
        self._token_hash = tokens.hash_token(token)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._leftovers = Leftovers()
        self.on_shown: Callable[[HostedLeague], None] = lambda hosted: None
        """Called with each league that can be reached from now on."""
        self.forget_routes: Callable[[], None] = lambda: None
        """Called when what is at a path changes."""
        self._turn = asyncio.Lock()
        """For the files of the leagues, which are written one league at a time."""

    def holds(self, token: str) -> bool:
        """Whether *token* is that of the staff of this server."""
        return tokens.is_same_secret(tokens.hash_token(token), self._token_hash)

    async def create(self, settings: LeagueSettings) -> Created:
        """Open a new league; raise `UsageError` if there is one of its id."""
        league_id = settings.league_id
        known = {row.league_id for row in await self.place.store.leagues()}
        if league_id in known or league_id in self._tasks:
            raise UsageError(f"there is a league {league_id!r}", "choose another id")
        houses = len(self.place.houses)
        return await self._open(replace(settings, awaited_referees=houses or 1))

    async def resume(self) -> list[HostedLeague]:
        """Go on with every league of the store that has not ended; return those.

        A league with players of our own is left to `league resume`, which starts them as well.
        """
        resumed = []
        for row in await self.place.store.leagues():
            if row.ended or row.league_id in self.directory or self._has_players(row):
                continue
            try:
                created = await self._open(LeagueSettings.read(row.settings))
                resumed.append(created.hosted)
            except LeagueError as error:
                log.warning("%s is left alone: %s", row.league_id, error)
        return resumed

    def _has_players(self, row: LeagueRow) -> bool:
        spec = self.place.folder.load_spec(row.league_id)
        return spec is not None and bool(spec.players)

    async def _open(self, settings: LeagueSettings) -> Created:
        opened: asyncio.Future[Created] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._host(settings, opened))
        self._tasks[settings.league_id] = task
        task.add_done_callback(lambda _: self._forget(settings.league_id))
        return await opened

    def _forget(self, league_id: str) -> None:
        self._tasks.pop(league_id, None)
        self._leftovers.add(len(self._tasks))

    async def _host(self, settings: LeagueSettings, opened: "asyncio.Future[Created]") -> None:
        """Open a league, and run it to its end."""
        try:
            async with AsyncExitStack() as stack:
                league = await self._run_league(settings, stack, opened)
                await league.run()
        except LeagueError as error:
            if not opened.done():
                opened.set_exception(error)
            else:
                log.error("%s stopped: %s", settings.league_id, error)
        finally:
            opened.cancel()

    async def _run_league(
        self,
        settings: LeagueSettings,
        stack: AsyncExitStack,
        opened: "asyncio.Future[Created]",
    ) -> OpenLeague:
        """Return a league that can be reached until *stack* ends."""
        place, league_id = self.place, settings.league_id
        url = make_league_url(place.url, league_id)
        networks = choose_networks(place.spec.host, place.spec.networks)
        league = OpenLeague(
            *(settings, place.wire, url, networks),
            Look(prefix=make_prefix(league_id)),
            self.directory.count_players,
        )
        league.manager.organiser.is_staff = self.holds
        stack.push_async_callback(place.store.release, league_id)
        keeper = await stack.enter_async_context(
            keep_files(league.manager, place.folder, self._turn)
        )
        token = await league.open(place.store, place.folder)
        hosted = HostedLeague(league)
        if keeper is not None:
            league.manager.events.listen(keeper.log_event)
        league.manager.events.listen(lambda event: self._tell(hosted, event))
        self._show(hosted)
        stack.push_async_callback(self._hide, hosted)
        opened.set_result(Created(hosted, token))
        return league

    def _show(self, hosted: HostedLeague) -> None:
        """Let agents and people reach a league, and give it referees."""
        league_id, place = hosted.league_id, self.place
        self.directory.add(hosted)
        self.sites.add(league_id, hosted.site)
        self.forget_routes()
        place.folder.save_address(league_id, hosted.league.url)
        state = place.folder.get_state_folder(league_id)
        specs = [
            replace(one, identity_path=state and state / f"{one.agent_id}.json")
            for one in place.houses.specs
        ]
        place.houses.open(league_id, make_link(hosted.league), *specs)
        self.on_shown(hosted)

    async def _hide(self, hosted: HostedLeague) -> None:
        """Let go of a league: from now on its pages come from the store."""
        league_id = hosted.league_id
        self.directory.remove(league_id)
        self.sites.remove(league_id)
        self.forget_routes()
        self.place.houses.close(league_id)
        self.place.folder.save_address(league_id, None)
        if hosted.site.streams is not None:
            await hosted.site.streams.close(0.2)
        await hosted.league.manager.close()

    async def wait_for_end(self, league_id: str) -> None:
        """Return when a league is over and nothing of it is left here, or at once if none is run."""
        if league_id in self._tasks:
            await asyncio.wait({self._tasks[league_id]})

    async def close(self) -> None:
        """Stop all leagues where they are; they go on when the server is started again."""
        running = tuple(self._tasks.values())
        for task in running:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*running, return_exceptions=True)


def make_link(league: OpenLeague) -> LeagueLink:
    """Return how the referees of the server reach a league."""
    settings = league.manager.settings
    return LeagueLink(
        league.url,
        league_id=settings.league_id,
        game_types=settings.games,
        patience=settings.patience,
        retry=settings.retry,
        join_code=settings.join_code,
        is_ours=True,
    )
