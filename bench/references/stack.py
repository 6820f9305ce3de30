"""What a reference is made of: a server, a client, and the event loop that both run on."""

import socket
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from bench.recording import Value

T = TypeVar("T")

Handle: TypeAlias = Callable[[Value], Value]
"""Return the reply to a request, both as plain values."""


class Stack(Protocol):
    """One way to send JSON over HTTP; it ends with its process."""

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run *main* on the event loop of this stack."""

    async def serve(self, socks: Sequence[socket.socket], handle: Handle) -> None:
        """Begin to answer what arrives at *socks*."""

    def call(self, url: str, request: Value) -> Awaitable[Value]:
        """Send *request* and return the reply."""
