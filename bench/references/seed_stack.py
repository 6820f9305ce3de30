"""FastAPI with pydantic models, and `requests.post` in threads.

This is what the specification shows as an implementation: uvicorn as `pip install uvicorn` gives it
(h11, the event loop of asyncio), and a new connection for every call.
"""

import asyncio
import socket
from collections.abc import Awaitable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import requests
from fastapi import FastAPI
from pydantic import BaseModel

from bench.recording import Value
from bench.references.stack import Handle
from bench.references.starlette_aiohttp import make_server

T = TypeVar("T")
THREADS, TIMEOUT = 64, 30


class MCPRequest(BaseModel):
    """A call, as the specification writes it."""

    jsonrpc: str = "2.0"
    method: str
    params: dict[str, Any] = {}
    id: int = 1


class SeedStack:
    """The server and the client of the specification's own examples."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS)
        self._serving: asyncio.Future[None] | None = None

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(main)

    async def serve(self, socks: Sequence[socket.socket], handle: Handle) -> None:
        async def mcp_endpoint(request: MCPRequest) -> Any:
            return handle(request.model_dump())

        app = FastAPI()
        app.add_api_route("/mcp", mcp_endpoint, methods=["POST"])
        server = make_server(app, "h11")
        self._serving = asyncio.ensure_future(server.serve(list(socks)))

    def call(self, url: str, request: Value) -> Awaitable[Value]:
        return asyncio.get_running_loop().run_in_executor(self._threads, _post, url, request)


def _post(url: str, request: Value) -> Value:
    return requests.post(url, json=request, timeout=TIMEOUT).json()
