"""Killed at any moment, the league goes on: nothing acknowledged is lost, nothing counts twice."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from agent_league.running.folder import Folder
from agent_league.season.season import Season
from agent_league.store import StoredEvent
from agent_league.store.events import AgentRegistered, MatchEnded, SeasonEnded
from agent_league.tournament.standings import Scoring, Table
from agent_league.verification.stored import audit_store
from agent_league.vocabulary import PlayerId
from chaos.drill import Drill, settings
from store.cluster import Cluster, hindrance

SEEDS = range(int(os.environ.get("CHAOS_SEEDS", "5")))
FAULTY_SEEDS = range(int(os.environ.get("CHAOS_FAULTY_SEEDS", "2")))
POSTGRES = os.environ.get("CHAOS_STORE", "sqlite").startswith("postgres")


@pytest.fixture(scope="session")
def address() -> Iterator[str | None]:
    """Give the address of the store that the drill is for; None is a file of its own."""
    if not POSTGRES:
        yield None
        return
    if why := hindrance():
        pytest.skip(why)
    running = Cluster()
    try:
        running.start()
        yield running.address
    finally:
        running.remove()


async def happened(folder: Folder, league_id: str) -> list[StoredEvent]:
    async with folder.open_store() as store:
        assert store is not None
        await audit_store(store, league_id)  # everything that league verify checks
        return [stored async for page in store.events(league_id) for stored in page]


def recomputed(ended: list[MatchEnded], players: list[str]) -> list[tuple[str, int]]:
    table = Table([PlayerId(player) for player in players], Scoring())
    for event in ended:
        table.add(event.result)
    return [(row.player, row.points) for row in table.ranking()]


@pytest.mark.timeout(500)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_league_whose_processes_are_killed_ends_as_if_nothing_had_happened(
    seed: int, tmp_path: Path, address: str | None
) -> None:
    check_drill(Drill(seed, Folder(tmp_path, address)))


@pytest.mark.timeout(500)
@pytest.mark.parametrize("seed", FAULTY_SEEDS)
def test_a_league_with_faults_on_every_link_ends_and_holds(seed: int, tmp_path: Path) -> None:
    check_drill(Drill(1000 + seed, Folder(tmp_path), players=10, faulty=True))


def check_drill(drill: Drill) -> None:
    """Run *drill*; every acknowledged result must count once, and `league verify` must hold."""
    drill.run()
    folder, terms = drill.folder, settings(drill.seed, drill.players)
    stored = asyncio.run(happened(folder, terms.league_id))
    events = [kept.event for kept in stored]
    players = [f"P{number:02}" for number in range(1, drill.players + 1)]

    ended = [event for event in events if isinstance(event, MatchEnded)]
    met = Counter(tuple(sorted(event.players)) for event in ended)
    assert sorted(met) == list(combinations(players, 2))
    assert set(met.values()) == {1}
    assert sum(isinstance(event, SeasonEnded) for event in events) == 1
    assert [kept.seq for kept in stored] == list(range(1, len(stored) + 1))

    results = {event.match_id: str(event.winner) for event in ended}
    for line in drill.acknowledged.read_text(encoding="utf-8").splitlines():
        match_id, winner = line.split()
        assert results[match_id] == winner, f"{match_id} was acknowledged otherwise"

    endpoints = Counter(e.agent_id for e in events if isinstance(e, AgentRegistered))
    assert set(endpoints) == {*players, "REF01", "REF02"}
    assert set(endpoints.values()) == {1}, "an agent was taken for another one"

    season = Season(terms)
    for event in events:
        season.apply(event)
    assert [(row.player_id, row.points) for row in season.standings()] == recomputed(ended, players)
