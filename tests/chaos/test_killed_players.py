"""A player that is killed and started again plays its next match, however long it was away."""

import asyncio
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Event as ProcessEvent
from pathlib import Path

import pytest

from agent_league.protocol import LeagueError, Role
from agent_league.running.event_loop import run
from agent_league.running.folder import Folder
from agent_league.running.league_run import Observer, run_league
from agent_league.running.members import run_members
from agent_league.running.serve import LOOPBACK, bind
from agent_league.running.specs import AgentSpec, LeagueLink, LeagueSpec
from agent_league.season.settings import LeagueSettings
from agent_league.store import Event
from agent_league.store.events import (
    AgentRegistered,
    MatchAssigned,
    MatchEnded,
    RoundClosed,
    RoundOpened,
    TokenIssued,
)
from free_ports import free_ports

VICTIMS, SURVIVORS = 10, 10
LEAD = 3.0
"""Seconds between two rounds, so that the league lasts longer than anybody is away."""


@dataclass
class Signals(Observer):
    """Tells another process that the second round is over."""

    begun: ProcessEvent

    def on_event(self, event: Event) -> None:
        if isinstance(event, RoundClosed) and event.round_id == 2:
            self.begun.set()


def be_manager(settings: LeagueSettings, folder: Folder, port: int, begun: ProcessEvent) -> None:
    spec = folder.open_spec(LeagueSpec(settings, port_base=port))
    run_league(spec, folder, Signals(begun))


def be_members(specs: Sequence[AgentSpec], link: LeagueLink) -> None:
    agents = [(spec, bind(LOOPBACK, spec.port)) for spec in specs]
    try:
        run(run_members(agents, link, asyncio.Event()))
    except* LeagueError:
        raise SystemExit(4) from None


class Crowd:
    """A league whose first players are processes of their own, which can be killed."""

    def __init__(self, folder: Folder) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["chaos.test_killed_players"])
        manager, referee, *players = free_ports(2 + VICTIMS + SURVIVORS)
        url = f"http://{LOOPBACK}:{manager}/mcp"
        self._link = LeagueLink(url, waits_for_league=True)
        specs = [AgentSpec(Role.REFEREE, "REF01", referee, "Referee")]
        specs += [
            AgentSpec(
                Role.PLAYER,
                f"P{number:02}",
                port,
                f"Player {number}",
                strategy="random",
                identity_path=folder.shared / f"P{number:02}.json",
            )
            for number, port in enumerate(players, 1)
        ]
        self.victims, others = specs[1 : 1 + VICTIMS], [specs[0], *specs[1 + VICTIMS :]]
        self.begun = self._context.Event()
        settings = LeagueSettings(
            seed="7",
            league_id="killed",
            awaited_players=len(players),
            announcement_lead=LEAD,
            farewell=2.0,
        )
        self.manager = self._context.Process(
            target=be_manager, args=(settings, folder, manager, self.begun), daemon=True
        )
        self.manager.start()
        self._processes = [self._start(others), *(self._start([spec]) for spec in self.victims)]

    def _start(self, specs: Sequence[AgentSpec]) -> multiprocessing.process.BaseProcess:
        process = self._context.Process(target=be_members, args=(specs, self._link), daemon=True)
        process.start()
        return process

    def kill_for(self, seconds: float) -> None:
        """Kill all victims, and start them again after so many seconds."""
        for process in self._processes[1:]:
            process.kill()
            process.join()
        self.manager.join(seconds)
        self._processes[1:] = [self._start([spec]) for spec in self.victims]

    def close(self) -> None:
        for process in (self.manager, *self._processes):
            process.kill()
            process.join()


async def read_events(folder: Folder) -> list[Event]:
    async with folder.open_store() as store:
        assert store is not None
        return [stored.event async for page in store.events("killed") for stored in page]


def next_match(events: Sequence[Event], player: str) -> MatchEnded:
    """Return how the first match of *player* ended that began after it was back."""
    back = max(
        place
        for place, event in enumerate(events)
        if isinstance(event, (TokenIssued, AgentRegistered)) and event.agent_id == player
    )
    opened = [event for event in events if isinstance(event, RoundOpened)]
    mine = {
        match.match_id
        for event in opened
        for match in event.matches
        if player in (match.first, match.second)
    }
    begun = [e.match_id for e in events[back:] if isinstance(e, MatchAssigned)]
    first = next(match_id for match_id in begun if match_id in mine)
    return next(e for e in events if isinstance(e, MatchEnded) and e.match_id == first)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seconds", [3, 9, 30])
def test_ten_players_that_were_killed_come_back_and_play_their_next_match(
    seconds: int, tmp_path: Path
) -> None:
    folder = Folder(tmp_path)
    crowd = Crowd(folder)
    try:
        assert crowd.begun.wait(120)
        crowd.kill_for(seconds)
        crowd.manager.join(200)
        assert crowd.manager.exitcode == 0
    finally:
        crowd.close()
    events = asyncio.run(read_events(folder))
    lost = {
        spec.agent_id: ended.forfeits
        for spec in crowd.victims
        for ended in [next_match(events, spec.agent_id)]
        if spec.agent_id in ended.forfeits
    }
    assert lost == {}
