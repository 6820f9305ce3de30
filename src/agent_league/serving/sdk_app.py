"""The ASGI application for MCP: it loads the SDK for the first caller that needs it."""

import asyncio
import gc
import threading
from typing import TYPE_CHECKING

from agent_league.http.exchange import Answer
from agent_league.http.site import Receive, Scope, Send, Streams
from agent_league.protocol.contracts import schemas
from agent_league.serving.header_hints import read_hints
from agent_league.serving.tools import Served

if TYPE_CHECKING:
    from agent_league.serving.sdk_server import McpServer

BODY_LIMIT = 4 * 1024 * 1024
_is_loaded = threading.Event()


class SdkApp:
    """Passes requests to the SDK."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._server_task: asyncio.Task[None] | None = None
        self._server_ready: asyncio.Future[McpServer] | None = None
        self._closing = asyncio.Event()
        self._answering: set[asyncio.Task[None]] = set()

    def streams(self) -> Streams:
        """Return this application as the part of a site that answers with streams."""
        return Streams(
            app=self,
            matches=lambda headers: read_hints(headers).mcp,
            close=self.close,
            warm_up=self.warm_up,
            body_limit=BODY_LIMIT,
        )

    def warm_up(self) -> "asyncio.Future[McpServer]":
        """Start to load the SDK, unless that has begun; the future holds the server."""
        if self._server_ready is None:
            self._server_ready = asyncio.get_running_loop().create_future()
            self._server_task = asyncio.create_task(self._run_server(self._server_ready))
        return self._server_ready

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gate, token = self._served.offer.gate, read_hints(tuple(scope["headers"])).token
        if gate is not None and not gate.admits(token):
            await _send(gate.refuse(token), send)
            return
        server = await asyncio.shield(self.warm_up())
        if self._closing.is_set():  # the SDK has stopped, and would fail
            await _send(_GOODBYE, send)
            return
        task = asyncio.current_task()
        if scope["type"] == "http" and scope["method"] == "POST" and task is not None:
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        await server.handle(scope, receive, send)

    async def _run_server(self, ready: "asyncio.Future[McpServer]") -> None:
        """Hold the SDK's context, which the task that entered it must leave."""
        try:
            if _is_loaded.is_set():  # half a millisecond, and a thread would slow down matches
                server = _build_server(self._served)
            else:
                server = await asyncio.to_thread(_build_server, self._served)
            async with server.run(), server.subscriptions.run():
                ready.set_result(server)
                await self._closing.wait()
        finally:
            if not ready.done():
                ready.set_exception(RuntimeError("the MCP SDK could not be started"))
                ready.exception()  # perhaps nobody waits for it

    async def close(self, grace: float) -> None:
        """Give the requests in progress *grace* seconds to end, then stop the SDK."""
        if self._server_task is None or self._server_ready is None:
            return
        if self._server_ready.done() and self._server_ready.exception() is None:
            self._server_ready.result().subscriptions.listen.close()
            if self._answering:
                await asyncio.wait(self._answering, timeout=grace)
        self._closing.set()
        await asyncio.wait({self._server_task})


_GOODBYE = Answer(503, b'{"error":"the agent is closing"}', headers=(("retry-after", "1"),))


async def _send(answer: Answer, send: Send) -> None:
    headers = [(b"content-type", answer.content_type.encode())]
    headers += [(name.encode(), value.encode()) for name, value in answer.headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def load_sdk() -> "type[McpServer]":
    """Import the SDK, which takes a second of CPU and 36 MB, unless that is done."""
    from agent_league.serving.sdk_server import McpServer  # noqa: PLC0415 - see above

    if not _is_loaded.is_set():
        import anyio  # noqa: PLC0415 - a part of the SDK

        anyio.run(anyio.sleep, 0)  # it imports a part of itself when it is used first
        schemas()
        gc.freeze()  # what was imported stays; to search it for garbage stops the agent
        _is_loaded.set()
    return McpServer


def _build_server(served: Served) -> "McpServer":
    return load_sdk()(served, BODY_LIMIT)
