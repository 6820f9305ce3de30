"""Ports at which nobody listens just now."""

import socket
from secrets import randbelow


def free_ports(count: int) -> list[int]:
    """Return so many ports that follow one another, and stay free until somebody asks for them.

    They are below those that the system gives to connections, which come and go all the time: an
    agent that is killed finds its port again.
    """
    while True:
        first = 10_000 + randbelow(20_000)
        row = [*range(first, first + count)]
        if all(map(_is_free, row)):
            return row


def free_port() -> int:
    return free_ports(1)[0]


def _is_free(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) != 0
