"""Our league as it is really run: its processes, its HTTP, its store and its logs."""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_league.protocol import Role
from agent_league.running.folder import MEMORY, Folder
from agent_league.running.league_run import LeagueRun, Observer, run_league
from agent_league.running.specs import LeagueSpec, number_agents
from agent_league.season.settings import LeagueSettings
from agent_league.store.addresses import store_at
from agent_league.store.events import Event, RoundClosed, SeasonEnded, SeasonStarted
from agent_league.store.store import Store
from bench.measurement import Cost, Reading, compute_cost, read_clocks

CAPACITY = 10
"""The most matches that a referee may run at once; more at once need more referees."""
STRATEGIES = (
    "random",
    "always_even",
    "always_odd",
    "alternating",
    "mirror",
    "frequency",
    "pattern",
    "markov",
)


def make_spec(
    players: int, *, isolate: bool = False, at_once: int = CAPACITY, legs: int = 1
) -> LeagueSpec:
    """Return a league that plays so many matches *at_once*; strategies are dealt out in turn."""
    agents = zip(number_agents(Role.PLAYER, players), cycle(STRATEGIES), strict=False)
    referees = number_agents(Role.REFEREE, -(-at_once // CAPACITY))
    settings = LeagueSettings(
        seed="7",
        awaited_players=players,
        awaited_referees=len(referees),
        max_players=players,
        legs=legs,
    )
    return LeagueSpec(
        settings,
        [replace(referee, capacity=min(at_once, CAPACITY)) for referee in referees],
        [replace(agent, strategy=strategy) for agent, strategy in agents],
        port_base=0,
        max_processes=1,
        isolate=isolate,
    )


class StoreAlone(Folder):
    """A store, and nothing else that a folder has: no logs, no files."""

    @property
    def is_in_memory(self) -> bool:
        return True

    @asynccontextmanager
    async def open_store(self) -> AsyncIterator[Store | None]:
        store = store_at(self.address or str(self.shared / "league.db"), self.durability)
        try:
            yield store
        finally:
            await store.close()


@contextmanager
def keep_nothing() -> Iterator[Folder]:
    yield Folder(address=MEMORY)


@contextmanager
def keep_events() -> Iterator[Folder]:
    with TemporaryDirectory() as folder:
        yield StoreAlone(Path(folder))


@contextmanager
def keep_everything() -> Iterator[Folder]:
    """Keep what `league play --shared` keeps: the store, the files, and the log of every agent."""
    with TemporaryDirectory() as folder:
        yield Folder(Path(folder))


@dataclass(frozen=True)
class Mode:
    """A way to run our league."""

    open_folder: Callable[[], AbstractContextManager[Folder]]
    is_isolated: bool = False
    """Whether every agent has its own process."""


MODES: Mapping[str, Mode] = {
    "plain": Mode(keep_nothing),
    "durable": Mode(keep_events),
    "logged": Mode(keep_everything),
    "own_process": Mode(keep_nothing, is_isolated=True),
}


class Meter(Observer):
    """Reads the clocks when the season starts, and when it ends or has had enough rounds."""

    def __init__(self, rounds: int | None = None) -> None:
        self._rounds = rounds
        self.readings: list[Reading] = []
        self.matches = 0

    def on_start(self, league_run: LeagueRun) -> None:
        self._run = league_run

    def on_event(self, event: Event) -> None:
        is_last = isinstance(event, SeasonEnded)
        if isinstance(event, RoundClosed) and self._rounds is not None:
            is_last = event.round_id == self._rounds
        if isinstance(event, SeasonStarted) or (is_last and len(self.readings) == 1):
            self.readings.append(read_clocks(self.list_pids()))
            self.matches = self._run.season.played
        if is_last and self._rounds is not None:
            raise KeyboardInterrupt

    def list_pids(self) -> dict[str, list[int]]:
        """Return the processes of each role; the first of the agents are the referee's."""
        pids = [process.pid or 0 for process in self._run.processes.all]
        referees = sum(group[0].role is Role.REFEREE for group in self._run.spec.processes)
        return {"manager": [os.getpid()], "referee": pids[:referees], "players": pids[referees:]}

    def compute_cost(self) -> Cost:
        return compute_cost(self.matches, *self.readings)


def play(players: int, mode: str) -> Cost:
    """Play one league in this process and those of its agents, and return what it cost."""
    way = MODES[mode]
    spec = make_spec(players, isolate=way.is_isolated)
    return play_spec(spec, way.open_folder())


def play_spec(
    spec: LeagueSpec, opened: AbstractContextManager[Folder], rounds: int | None = None
) -> Cost:
    """Play a league, or so many rounds of it, and return what it cost."""
    meter = Meter(rounds)
    with opened as folder, suppress(KeyboardInterrupt):
        run_league(folder.save_spec(spec), folder, meter)
    return meter.compute_cost()
