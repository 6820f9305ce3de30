"""Begins to listen, and stops it."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress

from agent_league.http.local_socket import listen_locally

_BACKLOG = 1024
"""How many callers may wait to be accepted."""


async def start_listening(
    make_connection: Callable[[], asyncio.Protocol], sock: socket.socket
) -> Sequence[asyncio.Server]:
    """Listen on *sock*, and on a Unix socket for the agents of this machine, if there can be one."""
    loop, listeners = asyncio.get_running_loop(), list[asyncio.Server]()
    if local := listen_locally(sock):
        server = await loop.create_unix_server(make_connection, sock=local, backlog=_BACKLOG)
        listeners.append(server)
    listeners.append(await loop.create_server(make_connection, sock=sock, backlog=_BACKLOG))
    return listeners


async def stop_listening(listeners: Sequence[asyncio.Server]) -> None:
    """Close *listeners* after the connections that they have accepted were made.

    asyncio never closes a connection that was accepted right before its server closed. The port
    is free last: whoever takes it must find the name of the Unix socket free as well.
    """
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # the loop of Windows accepts in another way
        for sock in [sock for listener in listeners for sock in listener.sockets]:
            loop.remove_reader(sock)
    try:
        for _ in range(2):  # the loop's turns from an accepted socket to `connection_made`
            await asyncio.sleep(0)
    finally:
        for listener in listeners:
            listener.close()
