"""A server on plain streams, for peers that do what our own server would not let them do."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from agent_league.http.listening import stop_listening

Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class StreamServer:
    """Serves every connection in a task of its own, and leaves nothing open when it closes."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._calls: dict[asyncio.Future[Any], asyncio.StreamWriter] = {}
        self._listening: asyncio.Server | None = None
        self._is_closed = False

    async def open(self) -> str:
        """Listen at any port of this machine, and return the endpoint."""
        self._listening = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}/mcp"

    async def stop_listening(self) -> None:
        """Take no more connections; those that are open stay so."""
        if self._listening is not None:
            await stop_listening([self._listening])

    async def close(self) -> None:
        """End all calls, also those that would never have been answered."""
        self._is_closed = True
        await self.stop_listening()
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        for writer in self._calls.values():
            writer.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_closed:
            writer.close()
            return
        # A task that is cancelled before it starts closes nothing, so the server knows the writer.
        self._calls[asyncio.ensure_future(self._serve_one(reader, writer))] = writer

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
