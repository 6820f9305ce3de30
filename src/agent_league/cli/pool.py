"""`league referee --pool`: a worker of the referee pool."""

import asyncio
import logging
import platform
import signal
import sys
from pathlib import Path

from agent_league.cli.unread import interrupt_when_unread
from agent_league.files.logger import AgentLogs
from agent_league.printable import format_count
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.store.addresses import store_at
from agent_league.vocabulary import Level


def work_in_pool(address: str, seats: int, shared: Path, log_level: Level) -> None:
    """Referee matches of the leagues at *address* until the process is told to stop."""
    if not address.startswith(("postgresql://", "postgres://")):
        raise UsageError("the referee pool works on PostgreSQL", "--pool postgresql://user@host/db")
    place = store_at(address).name  # it raises `StoreError` if asyncpg is missing
    from agent_league.running.pool_worker import run_pool_worker  # noqa: PLC0415 - it needs asyncpg

    name = f"pool-{platform.node()}"
    agent_log = AgentLogs(shared / "logs", log_level).for_agent(name)

    async def main() -> None:
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        stopped = asyncio.ensure_future(_say_when_stopped(stop))
        await run_pool_worker(address, seats, stop, agent_log)
        stopped.cancel()

    print(
        f"Refereeing for the leagues of {place}, {format_count(seats, 'match')} at once.",
        file=sys.stderr,
    )
    with interrupt_when_unread():
        run(main())


async def _say_when_stopped(stop: asyncio.Event) -> None:
    await stop.wait()
    print("Stopping; the matches that were begun are ended first.", file=sys.stderr)
