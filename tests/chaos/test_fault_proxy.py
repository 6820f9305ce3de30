"""The proxy of the drills does to requests what it says that it does."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import cast

from chaos.fault_proxy import HOST, FaultProxy


class Sent:
    """Keeps what a proxy passes on, in its order."""

    def __init__(self) -> None:
        self.data: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.data.append(data)

    def as_writer(self) -> asyncio.StreamWriter:
        return cast("asyncio.StreamWriter", self)


def run_beside_a_target(
    main: Callable[[FaultProxy, asyncio.Queue[bytes]], Awaitable[None]],
) -> None:
    """Run *main* with a proxy for a target that puts what arrives on its own connections in a queue."""

    async def serve() -> None:
        arrived: asyncio.Queue[bytes] = asyncio.Queue()

        async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            arrived.put_nowait(await reader.read(1000))
            writer.write(b"ok")
            writer.close()

        async with await asyncio.start_server(receive, HOST, 0) as server:
            await main(FaultProxy(server.sockets[0].getsockname()[1], "seed"), arrived)

    asyncio.run(serve())


def test_a_request_is_sent_twice() -> None:
    async def main(proxy: FaultProxy, arrived: asyncio.Queue[bytes]) -> None:
        sent = Sent()
        await proxy._send_twice(b"x", sent.as_writer(), Random(1))
        assert (sent.data, arrived.get_nowait()) == ([b"x"], b"x")

    run_beside_a_target(main)


def test_a_request_is_sent_again_when_its_time_is_over() -> None:
    async def main(proxy: FaultProxy, arrived: asyncio.Queue[bytes]) -> None:
        sent = Sent()
        await proxy._send_again_later(b"x", sent.as_writer(), Random(1))
        assert (sent.data, arrived.empty()) == ([b"x"], True)
        assert await arrived.get() == b"x"
        await asyncio.gather(*proxy._copies)

    run_beside_a_target(main)


def test_a_later_request_overtakes_an_earlier_one() -> None:
    async def main(proxy: FaultProxy, arrived: asyncio.Queue[bytes]) -> None:
        sent = Sent()
        first = asyncio.create_task(
            proxy._wait_until_overtaken(b"first", sent.as_writer(), Random(1))
        )
        await asyncio.sleep(0)
        sent.write(b"second")
        proxy._note_request()
        await first
        assert sent.data == [b"second", b"first"]

    run_beside_a_target(main)


def test_a_request_that_nobody_overtakes_goes_on() -> None:
    async def main(proxy: FaultProxy, arrived: asyncio.Queue[bytes]) -> None:
        sent = Sent()
        await proxy._wait_until_overtaken(b"only", sent.as_writer(), Random(1))
        assert sent.data == [b"only"]

    run_beside_a_target(main)
