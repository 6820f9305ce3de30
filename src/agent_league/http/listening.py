"""Stops a server that listens."""

import asyncio
from contextlib import suppress


async def stop_listening(server: asyncio.Server) -> None:
    """Close *server* after the connections that it has accepted were made.

    asyncio never closes a connection that was accepted right before its server closed.
    """
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # the loop of Windows accepts in another way
        for sock in server.sockets:
            loop.remove_reader(sock)
    for _ in range(2):  # the loop's turns from an accepted socket to `connection_made`
        await asyncio.sleep(0)
    server.close()
