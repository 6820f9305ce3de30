"""How long it takes to open a league of a million finished matches and to print its standings.

The store is made of events as a manager writes them, with a snapshot as old as one can be: the
manager was killed just before the next. Each question is asked in a process of its own, and then
as the command that people type, so the time to start Python counts.

    python bench/open_bench.py [--players 1415] [--store FOLDER/league.db]
"""

import argparse
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import msgspec
from rich.console import Console

from agent_league.cli.report import make_standings_table
from agent_league.http.memory import Network
from agent_league.league import LeagueManager
from agent_league.league.stored_season import SNAPSHOT_INTERVAL
from agent_league.protocol.tokens import hash_token
from agent_league.running.event_loop import run
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import copy_season, load_season
from agent_league.store import Event, EventLog, StoredEvent
from agent_league.store.codec import encode_row
from agent_league.store.events import (
    AgentRegistered,
    MatchAssigned,
    MatchEnded,
    RoundClosed,
    RoundOpened,
    ScheduledMatch,
    SeasonOpened,
    SeasonStarted,
)
from agent_league.store.schema import INSERT_EVENT
from agent_league.store.sqlite import SqliteStore
from agent_league.tournament.formats import total_matches

PLAYERS, LIMIT_S = 1_415, 5.0
AT, EXPIRES = "2025-01-15T10:00:00.000Z", "2025-01-16T10:00:00.000Z"


def registered(role: str, agent_id: str) -> AgentRegistered:
    return AgentRegistered(
        at=AT,
        role=role,
        agent_id=agent_id,
        display_name=f"Agent {agent_id}",
        version="1.0.0",
        endpoint=f"http://127.0.0.1/{agent_id}/mcp",
        game_types=["even_odd"],
        token_hash=hash_token(agent_id),
        expires=EXPIRES,
    )


def ended(match: ScheduledMatch, rng: Random) -> MatchEnded:
    """Return a match as the referee of an even-odd league would report it."""
    players = [match.first, match.second]
    winner = rng.choice([*players, None])
    lost = [player for player in players if winner not in (None, player) and rng.randrange(50) == 0]
    return MatchEnded(
        at=AT,
        match_id=match.match_id,
        round_id=match.round_id,
        referee_id="REF01",
        players=players,
        winner=winner,
        status="TECHNICAL_LOSS" if lost else "WIN" if winner else "DRAW",
        termination="timeout" if lost else "completed",
        technical_losses=lost,
        details={
            "drawn_number": rng.randint(1, 10),
            "number_parity": rng.choice(["even", "odd"]),
            "choices": {player: rng.choice(["even", "odd"]) for player in players},
        },
    )


def beginning(settings: LeagueSettings, players: Sequence[str]) -> Iterator[Event]:
    game = {"league_id": settings.league_id, "game_type": settings.game_type}
    yield SeasonOpened(at=AT, seed=settings.seed, legs=settings.legs, **game)
    yield registered("referee", "REF01")
    for player in players:
        yield registered("player", player)
    yield SeasonStarted(at=AT, players=list(players))


def rounds(season: Season) -> Iterator[Event]:
    """Yield every round up to the last result; that round is not closed any more."""
    rng, ticket_hash = Random(season.settings.seed), hash_token("ticket")
    for round_id in range(1, season.total_rounds + 1):
        if round_id > 1:
            yield RoundClosed(at=AT, round_id=round_id - 1)
        matches = season.pairings(round_id)
        yield RoundOpened(at=AT, round_id=round_id, matches=matches)
        for match in matches:
            assigned = {"match_id": match.match_id, "referee_id": "REF01"}
            yield MatchAssigned(at=AT, ticket_hash=ticket_hash, **assigned)
            yield ended(match, rng)


class Writing:
    """The rows of a league, one after another; takes the snapshot on the way."""

    def __init__(self, season: Season, players: int) -> None:
        self._season = season
        self._players = [f"P{number:02}" for number in range(1, players + 1)]
        self._oldest = max(1, total_matches(players) - SNAPSHOT_INTERVAL + 1)
        self.snapshot = (0, "")

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        season = self._season
        happening = chain(beginning(season.settings, self._players), rounds(season))
        for seq, event in enumerate(happening, 1):
            season.apply(event)
            if season.played == self._oldest and isinstance(event, MatchEnded):
                self.snapshot = seq, copy_season(season).encode()
            yield (season.settings.league_id, *encode_row(StoredEvent(seq, event)))


async def make(path: Path, players: int) -> None:
    """Write a league down, in bulk, and a snapshot of it as the manager would have."""
    settings = LeagueSettings(seed="bench", max_players=players)
    store, writing = SqliteStore(path), Writing(Season(settings), players)
    await store.open(settings.league_id, AT, msgspec.json.encode(settings).decode())
    with closing(sqlite3.connect(path)) as database:
        database.executemany(INSERT_EVENT, writing)
        database.commit()
    await store.save_snapshot(settings.league_id, *writing.snapshot)
    await store.close()


async def show(store: SqliteStore) -> None:
    """Do what a command does that prints the standings of a stored league."""
    (league,) = await store.leagues()
    season = await load_season(store, LeagueSettings.read(league.settings))
    Console(highlight=False).print(make_standings_table(season.standings()))


async def read(store: SqliteStore) -> None:
    """Do the same without counting the matches of all leagues first."""
    settings = LeagueSettings.read(await store.settings(LeagueSettings.league_id))
    (await load_season(store, settings)).standings()


async def resume(store: SqliteStore) -> None:
    """Do what a manager does that takes the league up again."""
    settings = LeagueSettings.read(await store.settings(LeagueSettings.league_id))
    manager = LeagueManager(settings, Network(), EventLog())
    await manager.open(store)
    await manager.close()


QUESTIONS: Mapping[str, Callable[[SqliteStore], Awaitable[None]]] = {
    "show": show,
    "read": read,
    "resume": resume,
}


async def answer(question: str, path: Path) -> None:
    store = SqliteStore(path)
    await QUESTIONS[question](store)
    await store.close()


def asked(question: str, path: Path) -> float:
    """Return how many seconds a new process takes for *question*."""
    begun = time.perf_counter()
    command = [sys.executable, __file__, "--answer", question, "--store", str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


COMMANDS = {
    "leagues": ("leagues",),
    "standings": ("standings", LeagueSettings.league_id),
    "status": ("status", LeagueSettings.league_id),
    "schedule": ("schedule", LeagueSettings.league_id),
}
LEAGUE = (sys.executable, "-m", "agent_league")


def commanded(arguments: Sequence[str], path: Path) -> float:
    """Return how many seconds a command takes."""
    begun = time.perf_counter()
    shared = ("--shared", str(path.parent), "--store", str(path))
    subprocess.run([*LEAGUE, *arguments, *shared], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def resumed(path: Path) -> float:
    """Return how many seconds `league resume` takes until the league answers."""
    begun = time.perf_counter()
    shared = ("--shared", str(path.parent), "--store", str(path), "--port", "0")
    command = [*LEAGUE, "resume", LeagueSettings.league_id, *shared]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        notice = next(line for line in process.stderr or () if line.startswith("Waiting"))
        page = notice.split()[-1].removesuffix("mcp") + "status"
        urlopen(page, timeout=60).close()  # noqa: S310 - our own league
        took = time.perf_counter() - begun
        process.kill()  # it is 1,400 players short, and the next one must find the same
    return took


def measured(path: Path, players: int) -> bool:
    """Print what everything takes; return whether all of it is quick enough."""
    begun = time.perf_counter()
    run(make(path, players))
    made, size = time.perf_counter() - begun, path.stat().st_size >> 20
    print(f"{total_matches(players):,} matches of {players:,} players: {size} MiB, {made:.0f} s")
    seconds = {question: asked(question, path) for question in QUESTIONS}
    for name, arguments in COMMANDS.items():
        seconds[f"league {name}"] = commanded(arguments, path)
    seconds["league resume"] = resumed(path)
    for question, took in seconds.items():
        print(f"{question:<18}{took:6.2f} s")
    return max(seconds.values()) <= LIMIT_S


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--players", type=int, default=PLAYERS)
    parser.add_argument("--store", type=Path, help="where to make the store, and leave it")
    parser.add_argument("--answer", choices=QUESTIONS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.answer:
        run(answer(chosen.answer, chosen.store))
        return 0
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return 0 if measured(chosen.store or Path(folder) / "league.db", chosen.players) else 1


if __name__ == "__main__":
    sys.exit(main())
