"""Starlette on uvicorn (httptools, uvloop), called by one shared session of aiohttp."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, TypeVar

import aiohttp
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bench.recording import Value
from bench.references.stack import Handle

T = TypeVar("T")
KEEP_ALIVE = 60


class StarletteAiohttp:
    """What one takes who wants a fast server and a fast client, and writes neither."""

    def __init__(self) -> None:
        self._serving: asyncio.Future[None] | None = None
        self._session: aiohttp.ClientSession | None = None

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(main)

    async def serve(self, socks: Sequence[socket.socket], handle: Handle) -> None:
        async def answer(request: Request) -> JSONResponse:
            return JSONResponse(handle(await request.json()))

        app = Starlette(routes=[Route("/mcp", answer, methods=["POST"])])
        server = make_server(app, "httptools")
        self._serving = asyncio.ensure_future(server.serve(list(socks)))

    def call(self, url: str, request: Value) -> Awaitable[Value]:
        return self._call(url, request)

    async def _call(self, url: str, request: Value) -> Value:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        async with self._session.post(url, json=request) as response:
            return json.loads(await response.read())


def make_server(app: Any, parser: str) -> uvicorn.Server:
    """Return a server that logs nothing and keeps connections as long as a season lasts."""
    config = uvicorn.Config(
        app,
        http=parser,
        lifespan="off",
        log_level="error",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE,
    )
    return uvicorn.Server(config)
