"""A proxy between two agents, on whose connections everything goes wrong that can go wrong.

It delays, drips, resets, stays half-open, cuts off, sends requests twice (at once, or again much
later) and lets later requests overtake earlier ones. What goes wrong on a connection is drawn from
a seed, so that a run can be repeated, as far as the machine lets it.
"""

import asyncio
import os
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from random import Random

HOST = "127.0.0.1"
FAULTY = 0.15
"""The part of the connections on which something goes wrong."""
LONGEST_HOLD = 0.5
"""How many seconds a request waits for another one to overtake it."""

Fault = Callable[[bytes, StreamWriter, Random], Awaitable[None]]
"""Passes data on in place of the proxy, or does not."""


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
        self._overtaken = asyncio.Event()
        """Set, and then replaced, when a request has been passed on."""
        self._copies: set[asyncio.Task[None]] = set()
        """The requests that are sent a second time."""
        self._request_faults: Mapping[str, Fault] = {
            "twice": self._send_twice,
            "again later": self._send_again_later,
            "overtaken": self._wait_until_overtaken,
        }

    async def start(self, port: int) -> None:
        await asyncio.start_server(self._connect, HOST, port)

    async def _connect(self, reader: StreamReader, writer: StreamWriter) -> None:
        rng = Random(self._rng.random())
        out, back = self._choose_faults(rng) if rng.random() < FAULTY else (None, None)
        with suppress(OSError, asyncio.IncompleteReadError):
            far_reader, far_writer = await asyncio.open_connection(HOST, self._target)
            await asyncio.gather(
                _pump(reader, far_writer, out, rng, self._note_request),
                _pump(far_reader, writer, back, rng),
            )
        writer.close()

    def _choose_faults(self, rng: Random) -> tuple[Fault | None, Fault | None]:
        """Return what is wrong with the requests, and with the answers, of one connection."""
        fault_name = rng.choice([*FAULTS, *self._request_faults])
        if fault_name in self._request_faults:
            return self._request_faults[fault_name], None
        fault = FAULTS[fault_name]
        return (fault, None) if rng.random() < 0.5 else (None, fault)

    def _note_request(self) -> None:
        self._overtaken.set()
        self._overtaken = asyncio.Event()

    async def _wait_until_overtaken(self, data: bytes, writer: StreamWriter, rng: Random) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_HOLD):
                await self._overtaken.wait()
        writer.write(data)

    async def _send_twice(self, data: bytes, writer: StreamWriter, rng: Random) -> None:
        await self._send_copy(data, 0.0)
        writer.write(data)

    async def _send_again_later(self, data: bytes, writer: StreamWriter, rng: Random) -> None:
        writer.write(data)
        copy = asyncio.create_task(self._send_copy(data, rng.uniform(0.2, 3.0)))
        self._copies.add(copy)
        copy.add_done_callback(self._copies.discard)

    async def _send_copy(self, data: bytes, after: float) -> None:
        """Send a request on a connection of its own, and take no notice of the answer."""
        await asyncio.sleep(after)
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
    note: Callable[[], None] = lambda: None,
) -> None:
    try:
        while data := await reader.read(65536):
            if fault is not None and rng.random() < 0.3:
                await fault(data, writer, rng)
            else:
                writer.write(data)
            await writer.drain()
            note()
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
