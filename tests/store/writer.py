"""A program that writes events, and says which ones it was told are kept: `writer ADDRESS LANES`."""

import asyncio
import itertools
import os
import sys

from agent_league.store import StoredEvent
from agent_league.store.log import Sink
from store.books import writing
from store.samples import recovered


async def _write(sink: Sink, numbers: "itertools.count[int]") -> None:
    for seq in numbers:
        await sink.keep(StoredEvent(seq, recovered(seq)))
        os.write(1, f"{seq}\n".encode())  # one write, so that no line is cut off by a kill


async def main(address: str, lanes: int) -> None:
    async with writing(address) as (_, sink):
        os.write(1, b"open\n")
        numbers = itertools.count(1)
        await asyncio.gather(*(_write(sink, numbers) for _ in range(lanes)))
        await asyncio.to_thread(sys.stdin.read)  # holds the store until it is killed


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
