"""A worker of the referee pool that writes down what it saw acknowledged: `worker STORE SEATS FILE`."""

import asyncio
import logging
import os
import signal
import sys

from agent_league.agent_log import AgentLog
from agent_league.running.event_loop import run
from agent_league.running.pool_worker import run_pool_worker
from agent_league.vocabulary import Json


class Evidence(AgentLog):
    """Writes each acknowledged match at once, so that it survives the death of the worker."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
        if event_type == "RESULT_ACKNOWLEDGED":
            os.write(self._file, f"{details['match_id']}\n".encode())


async def main(store: str, seats: int, path: str) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await run_pool_worker(store, seats, stop, Evidence(path))


if __name__ == "__main__":
    run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
