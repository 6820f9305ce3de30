"""Unix sockets between the agents of one user on one machine: a call takes half of what TCP takes."""

import asyncio
import os
import socket
import struct
import sys
from contextlib import suppress

LOOPBACK = "127.0.0.1"
_CREDENTIALS = struct.Struct("3i")
"""How Linux writes the process, the user and the group at the other end of a socket."""


def listen_locally(sock: socket.socket) -> socket.socket | None:
    """Return a Unix socket for those who would call *sock* at a loopback address.

    None if nobody can, if this system has no such sockets, or if the name is taken: then all
    callers use *sock*.
    """
    if sys.platform != "linux" or sock.family is not socket.AF_INET:
        return None
    host, port = sock.getsockname()
    host = LOOPBACK if host == "0.0.0.0" else host  # noqa: S104 - compares, and binds nothing
    local = socket.socket(socket.AF_UNIX)
    with suppress(OSError):
        if _is_loopback(host):
            local.bind(_make_name(host, port))
            return local
    local.close()
    return None


def connect_locally(host: str, port: int) -> socket.socket | None:
    """Return a connection to the Unix socket of the agent at *host* and *port*.

    None if it has none, cannot take a connection now, or belongs to another user: anybody may take
    such a name before the agent does.
    """
    if sys.platform != "linux" or not _is_loopback(host):
        return None
    local = socket.socket(socket.AF_UNIX)
    local.setblocking(False)
    with suppress(OSError):
        local.connect(_make_name(host, port))
        found = local.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        _, user, _ = _CREDENTIALS.unpack(found)
        if user == os.geteuid():
            return local
    local.close()
    return None


def find_address(transport: asyncio.BaseTransport) -> str:
    """Return the address of a caller, which is on this machine if it uses a Unix socket.

    It is empty if the caller has left already.
    """
    peer = transport.get_extra_info("peername")
    if peer is None:
        return ""
    return str(peer[0]) if isinstance(peer, tuple) else LOOPBACK


def _is_loopback(host: str) -> bool:
    return host.startswith("127.")


def _make_name(host: str, port: int) -> bytes:
    """Return a name that is no file: it belongs to the network of this machine, as a port does."""
    return f"\0agent-league/{host}:{port}".encode("ascii")
