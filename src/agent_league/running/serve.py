"""Servers of this process, and the ports that agents listen at."""

import errno
import socket
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import psutil

from agent_league.agent import Agent
from agent_league.http.client import HttpClient
from agent_league.http.server import HttpServer
from agent_league.protocol import LeagueError
from agent_league.serving.site import make_site

LOOPBACK = "127.0.0.1"


class AddressError(LeagueError):
    """No agent can listen where it should."""


class PortBusyError(AddressError):
    """Somebody else listens where an agent should."""

    def __init__(self, port: int, who: str) -> None:
        super().__init__(f"port {port} is in use by {who}")
        self.port = port


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens at *port* (0 for any), or raise `AddressError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(1024)
    except OSError as error:
        sock.close()
        if error.errno != errno.EADDRINUSE:
            raise AddressError(f"cannot listen at {host}:{port}: {error.strerror}") from error
        raise PortBusyError(port, _find_occupant(port)) from error
    sock.setblocking(False)
    return sock


def _find_occupant(port: int) -> str:
    """Say which process listens at *port*, as far as we may know."""
    with suppress(psutil.Error):
        for connection in psutil.net_connections("inet"):
            if connection.laddr and connection.laddr.port == port and connection.pid:
                process = psutil.Process(connection.pid)
                return f"pid {process.pid} ({' '.join(process.cmdline())[:80]})"
    return "another process"


def find_own_address(peer: str = "192.0.2.1") -> str:
    """Return the address at which *peer* can reach this machine; loopback if it has no other.

    Without a peer it is the address towards the rest of the world. Nothing is sent.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, suppress(OSError):
        sock.connect((peer, 9))
        return str(sock.getsockname()[0])
    interfaces = psutil.net_if_addrs().values()
    found = (each.address for addresses in interfaces for each in addresses if _is_remote(each))
    return next(found, LOOPBACK)


def _is_remote(address: Any) -> bool:
    """Whether other machines can use this address of a network interface."""
    return address.family == socket.AF_INET and not address.address.startswith("127.")


def url_of(sock: socket.socket) -> str:
    """Return the address at which others reach *sock*."""
    host, port = sock.getsockname()[:2]
    shown = find_own_address() if host in {"0.0.0.0", "::"} else host  # noqa: S104 - read, not bound
    return f"http://[{shown}]:{port}/mcp" if ":" in shown else f"http://{shown}:{port}/mcp"


async def serve_until(
    agent: Agent,
    sock: socket.socket,
    work: Coroutine[Any, Any, Any],
    *,
    expects_mcp_clients: bool = False,
) -> None:
    """Serve *agent* while *work* runs; what MCP clients need is loaded now if they are expected."""
    site = make_site(agent)
    server = await HttpServer.start(site, sock)
    if expects_mcp_clients and site.streams is not None:
        site.streams.warm_up()
    try:
        await work
    finally:
        await server.close()
        await agent.close()


@asynccontextmanager
async def open_client(max_answer: int = 1 << 20) -> AsyncIterator[HttpClient]:
    """Return a client for the time of a context."""
    client = HttpClient(max_answer=max_answer)
    try:
        yield client
    finally:
        await client.close()


def bind_first(host: str, ports: Sequence[int]) -> socket.socket:
    """Return a socket at the first of *ports* that is free."""
    for port in ports[:-1]:
        with suppress(PortBusyError):
            return bind(host, port)
    return bind(host, ports[-1])
