"""Measures what `league simulate` takes for granted, and writes it down.

python -m bench.costs [--out FILE]
"""

import argparse
import asyncio
import platform
import socket
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest import mock

import msgspec
import psutil

from agent_league.clock import system_clock
from agent_league.http.client import HttpClient
from agent_league.league import table_updates
from agent_league.league.broadcaster import Broadcaster
from agent_league.peers.outbox import QueuedMessage
from agent_league.running.event_loop import run
from agent_league.running.folder import Folder
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.simulation.costs import Costs
from agent_league.store.addresses import store_at
from agent_league.store.events import AnnouncementMade
from agent_league.store.log import StoredEvent
from bench.measurement import Cost, run_apart
from bench.ours import StoreAlone, keep_nothing, make_spec, play_spec
from bench.recording import Exchange, record
from store.cluster import Cluster, hindrance

OUT = Path("src/agent_league/simulation/costs.json")
NEVER, OFTEN = 1e6, 0.01
"""Seconds between two tables."""
HEAD_BYTES = 280
"""The heads of a request and of its reply."""
PROBES, COMMITS = 100, 50
BLOCK, BLOCKS = 1 << 16, 500
TURNS = 10
"""Of the prisoner's dilemma."""


class Measured(NamedTuple):
    """What a league cost, and how many notices it sent, of how many bytes in all."""

    cost: Cost
    notices: int = 0
    notice_bytes: int = 0
    store_s: float = 0.0
    stored_bytes: float = 0.0


def play_with_tables(
    players: int, interval: float, *, game: str = "even_odd", at_once: int = 10
) -> Measured:
    """Play a league that keeps nothing and sends its table so often."""
    table_updates.INTERVAL_PER_PLAYER = 0.0
    spec = make_spec(players, at_once=at_once)
    settings = replace(spec.settings, table_interval=interval, game_type=game)
    agents = [replace(agent, strategy="random") for agent in spec.players]
    with _counted() as lengths:
        cost = play_spec(replace(spec, settings=settings, players=agents), keep_nothing())
    return Measured(cost, len(lengths), sum(lengths))


@contextmanager
def _counted() -> Iterator[list[int]]:
    """Note the length of every notice that is sent in this process."""
    lengths: list[int] = []
    send = Broadcaster._send  # noqa: SLF001 - nobody else sees what is really sent

    def note(self: Broadcaster, agent_id: str, messages: Sequence[QueuedMessage]) -> None:
        lengths.extend(len(message.outgoing.body) for message in messages)
        send(self, agent_id, messages)

    with mock.patch.object(Broadcaster, "_send", note):
        yield lengths


def play_with_store(players: int, address: str, postmaster: int | None) -> Measured:
    """Play a league that keeps its events, and measure the store, too."""
    before = _read_tree(postmaster)
    spec = make_spec(players)
    settings = replace(spec.settings, table_interval=NEVER)
    cost = play_spec(replace(spec, settings=settings), _kept(address))
    file = Path(address)
    size = file.stat().st_size if postmaster is None else 0
    used_s = _read_tree(postmaster) - before
    return Measured(cost, store_s=used_s, stored_bytes=size / cost.matches)


@contextmanager
def _kept(address: str) -> Iterator[Folder]:
    yield StoreAlone(address=address)


def _read_tree(pid: int | None) -> float:
    """Return the CPU of a process and of all that it has started."""
    if pid is None:
        return 0.0
    tree = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    # The postmaster counts the sessions that have ended.
    ended = psutil.Process(pid).cpu_times()
    children = ended.children_user + ended.children_system
    return sum(one.cpu_times().user + one.cpu_times().system for one in tree) + children


def measure_probe() -> float:
    """Return the CPU that one look takes whether somebody listens."""

    async def look() -> float:
        listener = bind(LOOPBACK, 0)
        listener.listen(PROBES)
        client, began = HttpClient(), time.process_time()
        for _ in range(PROBES):
            await client.listens(url_of(listener), 5.0)
        spent = time.process_time() - began
        await client.close()
        listener.close()
        return spent / PROBES

    return run(look())


def measure_byte() -> float:
    """Return the CPU that a byte takes from this process to the network."""
    ours, theirs = socket.socketpair()
    block, spent = b"x" * BLOCK, 0.0
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * BLOCK)
        for _ in range(BLOCKS):
            began = time.process_time()
            ours.sendall(block)
            spent += time.process_time() - began
            theirs.recv(BLOCK, socket.MSG_WAITALL)
    return spent / (BLOCK * BLOCKS)


def measure_commit() -> float:
    """Return how long it takes until a result is kept, in a file that survives a power cut."""

    async def keep() -> float:
        with TemporaryDirectory() as folder:
            store, times = store_at(f"{folder}/league.db"), []
            writer = await store.open("bench", "2025-01-15T10:00:00Z", "{}")
            for seq in range(1, COMMITS + 1):
                began = time.perf_counter()
                event = AnnouncementMade(at="2025-01-15T10:00:00Z", text="x" * 500)
                await writer.keep(StoredEvent(seq, event))
                times.append(time.perf_counter() - began)
            await store.close()
        return statistics.median(times)

    return asyncio.run(keep())


def measure() -> Costs:
    """Play some leagues, and take apart what they cost."""
    small, base = (run_apart(play_with_tables, n, NEVER) for n in (20, 100))
    wide = run_apart(play_with_tables, 200, NEVER, at_once=100).cost
    player_kb, match_kb = _split_memory(small.cost, base.cost, wide)
    seat_mb = (wide.peak_mb["referee"] - base.cost.peak_mb["referee"]) / 90
    return Costs(
        measured=f"{system_clock():%Y-%m-%d}, Python {platform.python_version()}, "
        f"{psutil.cpu_count()} shared cores, with `make bench-costs`",
        **_measure_cpu(base),
        **_measure_bytes(),
        probe_s=measure_probe(),
        commit_s=measure_commit(),
        manager_mb=small.cost.peak_mb["manager"],
        manager_player_kb=player_kb,
        manager_match_kb=match_kb,
        referee_mb=small.cost.peak_mb["referee"],
        referee_match_kb=1024 * seat_mb,
    )


def _measure_cpu(base: Measured) -> dict[str, Any]:
    """Return the seconds of CPU; *base* is a league of 100 that sent no tables."""
    loud = run_apart(play_with_tables, 100, OFTEN)
    long = run_apart(play_with_tables, 20, NEVER, game="prisoners_dilemma").cost
    sqlite, postgres_s = _measure_stores()
    matches, byte_s = base.cost.matches, measure_byte()
    notice_s = _find_notice(base, loud, byte_s)
    per_match = {role: seconds / matches for role, seconds in base.cost.cpu_s.items()}
    sqlite_s = sqlite.cost.cpu_s["manager"] / sqlite.cost.matches - per_match["manager"]
    own_s = per_match["manager"] - base.notices / matches * notice_s
    return {
        "manager_match_s": own_s + max(0.0, sqlite_s),
        "manager_notice_s": notice_s,
        "manager_byte_s": byte_s,
        "referee_match_s": per_match["referee"],
        "referee_turn_s": (long.cpu_s["referee"] / long.matches - per_match["referee"])
        / (TURNS - 1),
        "player_match_s": per_match["players"],
        "store_match_s": postgres_s,
        "stored_bytes": round(sqlite.stored_bytes),
    }


def _measure_bytes() -> dict[str, int]:
    """Return how long messages are, with their replies and the heads of both."""
    scripts = {n: record(n) for n in (10, 30)}
    sizes = {kind: _measure(one) for kind, one in scripts[30].exchanges.items()}
    tables = {n: _measure(scripts[n].exchanges["LEAGUE_STANDINGS_UPDATE"]) for n in scripts}
    shared_bytes = sizes["START_MATCH"] + sizes["MATCH_RESULT_REPORT"]
    players_bytes = sizes["GAME_INVITATION"] + sizes["CHOOSE_PARITY_CALL"] + sizes["GAME_OVER"]
    return {
        "match_bytes": shared_bytes,
        "referee_bytes": shared_bytes + 2 * players_bytes,
        "notice_bytes": sizes["ROUND_COMPLETED"],
        "table_row_bytes": round((tables[30] - tables[10]) / 20),
    }


def _measure(exchange: Exchange) -> int:
    bodies = msgspec.json.encode(exchange.request), msgspec.json.encode(exchange.reply)
    return HEAD_BYTES + sum(map(len, bodies))


def _find_notice(quiet: Measured, loud: Measured, byte_s: float) -> float:
    """Return what a notice costs beside its bytes, from a league that sent many tables."""
    notices = loud.notices - quiet.notices
    more = loud.cost.cpu_s["manager"] - quiet.cost.cpu_s["manager"]
    return more / notices - byte_s * (loud.notice_bytes - quiet.notice_bytes) / notices


def _split_memory(small: Cost, middle: Cost, large: Cost) -> tuple[float, float]:
    """Return the manager's kilobytes for a player and for a match, from leagues of 20, 100, 200.

    These keep every match in memory; with a store, only the last rounds are.
    """
    rows = [(100 - 20, middle), (200 - 20, large)]
    (p, m, kb), (p2, m2, kb2) = [
        (
            players,
            cost.matches - small.matches,
            1024 * (cost.peak_mb["manager"] - small.peak_mb["manager"]),
        )
        for players, cost in rows
    ]
    match_kb = max(0.1, (kb2 - kb * p2 / p) / (m2 - m * p2 / p))
    return max(0.1, (kb - m * match_kb) / p), match_kb


def _measure_stores() -> tuple[Measured, float]:
    """Return what a league in SQLite cost, and the CPU of PostgreSQL for a match."""
    with TemporaryDirectory() as folder:
        sqlite = run_apart(play_with_store, 50, f"{folder}/league.db", None)
    if why := hindrance():
        raise SystemExit(why)
    cluster = Cluster()
    try:
        cluster.start()
        pid = int((cluster.folder / "data/postmaster.pid").read_text(encoding="ascii").split()[0])
        postgres = run_apart(play_with_store, 50, cluster.address, pid)
    finally:
        cluster.remove()
    return sqlite, postgres.store_s / postgres.cost.matches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    out: Path = parser.parse_args().out
    fields = msgspec.to_builtins(measure())
    rounded = {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in fields.items()}
    out.write_bytes(msgspec.json.format(msgspec.json.encode(rounded)) + b"\n")
    print(out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
