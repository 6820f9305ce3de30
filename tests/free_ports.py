"""Ports at which nobody listens just now."""

import socket
from contextlib import ExitStack
from secrets import randbelow


def free_ports(count: int) -> list[int]:
    """Return so many different ports."""
    with ExitStack() as stack:
        socks = [stack.enter_context(socket.socket()) for _ in range(count)]
        for sock in socks:
            sock.bind(("127.0.0.1", 0))
        return [int(sock.getsockname()[1]) for sock in socks]


def free_port() -> int:
    return free_ports(1)[0]


def free_port_row(count: int) -> list[int]:
    """Return so many ports that follow one another, and stay free until somebody asks for them.

    They are below those that the system gives to connections, which come and go all the time.
    """
    while True:
        first = 10_000 + randbelow(20_000)
        row = [*range(first, first + count)]
        if all(map(_is_free, row)):
            return row


def _is_free(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) != 0
