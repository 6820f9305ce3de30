"""Many players in one process: `players ADDRESS FIRST COUNT LEAGUES FOLDER [STRATEGY]`."""

import asyncio
import signal
import sys
from pathlib import Path

from agent_league.protocol import Role
from agent_league.running.event_loop import run
from agent_league.running.members import run_members
from agent_league.running.serve import bind
from agent_league.running.specs import AgentSpec, LeagueLink

FIRST_PORT = 20_000


async def main(address: str, first: int, count: int, leagues: str, folder: Path, how: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    url, *others = leagues.split(",")
    link = LeagueLink(url, other_urls=others, waits_for_league=True, is_ours=True)
    specs = [
        AgentSpec(
            Role.PLAYER,
            f"P{number:02}",
            FIRST_PORT + number,
            display_name=f"Player {number}",
            strategy=how,
            identity_path=folder / f"P{number:02}.json",
        )
        for number in range(first, first + count)
    ]
    await run_members([(spec, bind(address, spec.port)) for spec in specs], link, stop)


if __name__ == "__main__":
    address, first, count, leagues, folder, *strategy = sys.argv[1:]
    how = strategy[0] if strategy else "random"
    run(main(address, int(first), int(count), leagues, Path(folder), how))
