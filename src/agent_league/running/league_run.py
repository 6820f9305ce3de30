"""One run of a league: its store, files and logs, its manager here, its agents in processes."""

import asyncio
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from agent_league.agent_log import AgentLog
from agent_league.chance import commit_to
from agent_league.files.logger import AgentLogs
from agent_league.http.client import HttpClient
from agent_league.http.traced import TracedWire
from agent_league.league.endpoint_gate import choose_networks
from agent_league.running.event_loop import run
from agent_league.running.file_keeper import keep_files
from agent_league.running.folder import Folder
from agent_league.running.members import find_learned_file
from agent_league.running.open_league import Look, OpenLeague
from agent_league.running.processes import AgentProcesses, Group
from agent_league.running.serve import bind, serve_until, url_of
from agent_league.running.specs import AgentSpec, LeagueLink, LeagueSpec
from agent_league.season.season import Season
from agent_league.serving.bearer import BearerGate
from agent_league.store import Event
from agent_league.store.events import FarewellSaid, SeasonEnded, SeasonStarted
from agent_league.vocabulary import Json

_LOGGED_EVENTS: Mapping[type[Event], str] = {
    SeasonStarted: "LEAGUE_BEGUN",
    SeasonEnded: "LEAGUE_ENDED",
    FarewellSaid: "LEAGUE_DRAINED",
}
"""The events that get a line in the log of a run; the others are in the league's own log."""


class Observer:
    """Watches a run; what a subclass does not override does nothing."""

    def on_start(self, league_run: "LeagueRun") -> None:
        """Do something when every port is taken; nobody is served yet."""

    def on_open(self, league_run: "LeagueRun", organiser_token: str | None) -> None:
        """Do something when the store is open; there is a token if the league is new."""

    def on_event(self, event: Event) -> None:
        """Do something with an event of the season."""

    def on_close(self) -> None:
        """Do something when the season is over, or the run is stopped."""


def run_league(spec: LeagueSpec, folder: Folder, *observers: Observer) -> "LeagueRun":
    """Play a league to its end, from its beginning or from where it stopped.

    Raises `AgentDiedError` if agents of ours fail, and the league cannot be played without them.
    """
    logs, league_id = AgentLogs(folder.logs, spec.log_level), spec.settings.league_id
    with ExitStack() as stack:
        run_log = AgentLogs(folder.logs).for_orchestrator()
        stack.push(partial(_close_run_log, run_log, league_id))
        sock = stack.enter_context(bind(spec.host, spec.port_base))
        state = folder.get_state_folder(league_id)
        groups = [
            [_bind_agent(agent, spec, state, stack) for agent in group] for group in spec.processes
        ]
        processes = AgentProcesses(
            spec.host,
            _make_link(spec, url_of(sock)),
            logs,
            run_log,
            expects_mcp_clients=spec.has_open_seats,
        )
        if groups:  # a manager alone, which may be taking over, waits for no server of processes
            stack.enter_context(processes)
        league_run = LeagueRun(spec, folder, sock, processes)
        for observer in observers:
            observer.on_start(league_run)
        run(league_run.play(groups, observers))
    return league_run


def _bind_agent(
    agent: AgentSpec, spec: LeagueSpec, state: Path | None, stack: ExitStack
) -> tuple[AgentSpec, socket.socket]:
    """Return *agent* with the port that it has now, and the socket that listens there."""
    sock = stack.enter_context(bind(spec.host, agent.port))
    path = state and state / f"{agent.agent_id}.json"
    learned = state and find_learned_file(state.parent, agent)
    placed = replace(agent, port=sock.getsockname()[1], identity_path=path, learned_path=learned)
    return placed, sock


def _close_run_log(
    run_log: AgentLog, league_id: str, kind: object, error: BaseException | None, trace: object
) -> None:
    """Note in the log how a run ended, if it ended badly."""
    if isinstance(error, KeyboardInterrupt):
        run_log.note("LEAGUE_INTERRUPTED", "WARNING", league_id=league_id)
    elif error is not None:
        run_log.note("LEAGUE_FAILED", "ERROR", league_id=league_id, error=repr(error))
    run_log.close()


def _make_link(spec: LeagueSpec, url: str) -> LeagueLink:
    settings = spec.settings
    return LeagueLink(
        url,
        dialect=settings.protocols[0],
        game_types=settings.games,
        seed=settings.seed,
        patience=settings.patience,
        retry=settings.retry,
        join_code=settings.join_code,
        trace=spec.trace,
        is_ours=True,
    )


class LeagueRun:
    """A league while it is run from here, and after that: what came of it."""

    def __init__(
        self, spec: LeagueSpec, folder: Folder, sock: socket.socket, processes: AgentProcesses
    ) -> None:
        self.spec, self.folder, self.processes = spec, folder, processes
        self.url = spec.endpoint or url_of(sock)
        self.port: int = sock.getsockname()[1]
        self._sock, self._wire = sock, HttpClient()
        wire = TracedWire(self._wire) if spec.trace else self._wire
        networks = choose_networks(spec.host, spec.networks)
        look = Look(aliases=spec.aliases, measure=self._measure)
        self._league = OpenLeague(spec.settings, wire, self.url, networks, look)
        self.manager = self._league.manager
        self._bearer_gate = BearerGate(spec.issuer, self.url) if spec.issuer else None
        self.manager.bearer_gate = self._bearer_gate
        self._started_at = self._ended_at = time.monotonic()

    def _measure(self) -> dict[str, Json]:
        """Return what only the process that runs the league knows of it."""
        room, url = self.folder.measure_room(), self.url.removesuffix("/mcp")
        return {**self.manager.measure(), "free": room, "url": url}

    @property
    def season(self) -> Season:
        return self.manager.season

    @property
    def seconds(self) -> float:
        """The time from the first round to the last result."""
        return self._ended_at - self._started_at

    async def play(self, groups: Sequence[Group], observers: Sequence[Observer]) -> None:
        """Play the season to its end, or from where it stopped if the store has it."""
        manager, folder = self.manager, self.folder
        try:
            if self._bearer_gate is not None:
                await self._bearer_gate.load_keys(self._wire)
            async with folder.open_store() as store, keep_files(manager, folder) as keeper:
                token = await self._league.open(store, folder)
                is_resumed = bool(self.season.roster.entries())
                self._note(
                    "LEAGUE_RESUMED" if is_resumed else "LEAGUE_OPENED",
                    commitment=commit_to(manager.season.secret),
                )
                manager.events.listen(self._note_event, *_LOGGED_EVENTS)
                if keeper is not None:
                    manager.events.listen(keeper.log_event)
                with ExitStack() as stack:
                    for observer in observers:
                        observer.on_open(self, token)
                        stack.callback(observer.on_close)
                        manager.events.listen(observer.on_event)
                    folder.save_address(manager.settings.league_id, self.url)
                    await serve_until(
                        manager,
                        self._sock,
                        self._run_season(groups),
                        expects_mcp_clients=self.spec.has_open_seats,
                    )
        finally:
            folder.save_address(manager.settings.league_id, None)
            await self._wire.close()

    async def _run_season(self, groups: Sequence[Group]) -> None:
        """Run the season beside its agents, which are started now that the manager is served."""
        season = asyncio.ensure_future(self._league.run())
        agents = asyncio.ensure_future(self.processes.run(groups, lambda: self.season.stage))
        try:
            await asyncio.wait({season, agents}, return_when=asyncio.FIRST_COMPLETED)
            if agents.done():
                agents.result()
            await season
        finally:
            season.cancel()
            agents.cancel()

    def _note_event(self, event: Event) -> None:
        """Note in the log of the run how the league goes on, and how long it takes."""
        if isinstance(event, SeasonStarted):
            self._started_at = time.monotonic()
        elif isinstance(event, SeasonEnded):
            self._ended_at = time.monotonic()
        self._note(_LOGGED_EVENTS[type(event)])

    def _note(self, name: str, **details: str) -> None:
        league_id, matches = self.spec.settings.league_id, self.season.played
        self.processes.run_log.note(name, league_id=league_id, **details, matches=matches)
