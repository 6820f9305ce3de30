"""A proxy between two agents, on whose connections everything goes wrong that can go wrong.

It delays, drips, resets, stays half-open, cuts off and sends requests twice. What goes wrong on a
connection is drawn from a seed, so that a run can be repeated, as far as the machine lets it.
"""

import asyncio
import os
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from random import Random

HOST = "127.0.0.1"
FAULTY = 0.12
"""The part of the connections on which something goes wrong."""

Fault = Callable[[bytes, StreamWriter, Random], Awaitable[None]]


async def delay(data: bytes, writer: StreamWriter, rng: Random) -> None:
    await asyncio.sleep(rng.uniform(0.0, 0.4))
    writer.write(data)


async def drip(data: bytes, writer: StreamWriter, rng: Random) -> None:
    step = max(1, len(data) // 20)
    for start in range(0, len(data), step):
        writer.write(data[start : start + step])
        await asyncio.sleep(0.01)


async def reset(data: bytes, writer: StreamWriter, rng: Random) -> None:
    writer.transport.abort()


async def cut_off(data: bytes, writer: StreamWriter, rng: Random) -> None:
    writer.write(data[: rng.randrange(len(data))])
    await writer.drain()
    writer.close()


async def stay_half_open(data: bytes, writer: StreamWriter, rng: Random) -> None:
    await asyncio.sleep(1.0)
    writer.transport.abort()


FAULTS: Mapping[str, Fault] = {
    "delay": delay,
    "drip": drip,
    "reset": reset,
    "cut off": cut_off,
    "half open": stay_half_open,
}


class FaultProxy:
    """Passes on to *target* what comes in at its port, or not."""

    def __init__(self, target: int, seed: str) -> None:
        self._target, self._rng = target, Random(seed)

    async def start(self, port: int) -> None:
        await asyncio.start_server(self._connect, HOST, port)

    async def _connect(self, reader: StreamReader, writer: StreamWriter) -> None:
        rng = Random(self._rng.random())
        names = [*FAULTS, "twice"]
        fault = rng.choice(names) if rng.random() < FAULTY else None
        back = rng.random() < 0.5
        with suppress(OSError, asyncio.IncompleteReadError):
            far_reader, far_writer = await asyncio.open_connection(HOST, self._target)
            out, answer = FAULTS.get(fault or ""), None
            if back:
                out, answer = None, out
            twice = self._send_twice if fault == "twice" else None
            await asyncio.gather(
                _pump(reader, far_writer, out, rng, twice), _pump(far_reader, writer, answer, rng)
            )
        writer.close()

    async def _send_twice(self, data: bytes) -> None:
        """Send a request on a connection of its own, too, and take no notice of the answer."""
        with suppress(OSError, TimeoutError):
            reader, writer = await asyncio.open_connection(HOST, self._target)
            writer.write(data)
            async with asyncio.timeout(2.0):
                await reader.read(1)
            writer.close()


async def _pump(
    reader: StreamReader,
    writer: StreamWriter,
    fault: Fault | None,
    rng: Random,
    twice: Callable[[bytes], Awaitable[None]] | None = None,
) -> None:
    try:
        while data := await reader.read(65536):
            if twice is not None:
                await twice(data)
            if fault is not None and rng.random() < 0.3:
                await fault(data, writer, rng)
            else:
                writer.write(data)
            await writer.drain()
    finally:
        writer.close()


def be_proxies(targets: Mapping[int, int], seed: str) -> None:
    """Be a process with one proxy for each port of *targets*."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    async def serve() -> None:
        for port, target in targets.items():
            await FaultProxy(target, f"{seed}|{port}").start(port)
        await asyncio.Event().wait()

    asyncio.run(serve())
