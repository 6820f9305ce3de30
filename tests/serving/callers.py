"""Those who speak MCP to an agent: the official client in each era, and bare requests."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from end_to_end.http_league import HttpLeague

MODES = ("auto", "legacy", "2026-07-28")
BOTH = "application/json, text/event-stream"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    frame: Any


async def begun(
    url: str, body: bytes, headers: Mapping[str, str], method: str = "POST"
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Send one request on a connection of its own."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    reply = {"host": parts.netloc, "content-length": str(len(body)), **headers}
    lines = [f"{method} {parts.path} HTTP/1.1", *(f"{k}: {v}" for k, v in reply.items()), "", ""]
    writer.write("\r\n".join(lines).encode() + body)
    return reader, writer


async def sent(url: str, body: bytes, headers: Mapping[str, str], method: str = "POST") -> Got:
    """Send one request, and read its first frame."""
    reader, writer = await begun(url, body, headers, method)
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        received = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        return Got(int(head[0].split()[1]), received, await _frame(reader, received))
    finally:
        writer.close()


async def _frame(reader: asyncio.StreamReader, headers: dict[str, str]) -> Any:
    if "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
        return json.loads(body) if body.startswith(b"{") else body
    if "text/event-stream" not in headers.get("content-type", ""):
        return None
    while True:
        line = (await reader.readline()).strip()
        if line.startswith(b"data: {"):
            frame = json.loads(line[6:])
            if "id" in frame:
                return frame


def tool_call(name: str, arguments: Any, *, meta: Any = None) -> bytes:
    params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
    return json.dumps(
        {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    ).encode()


def modern(name: str) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "accept": BOTH,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
    }


def complaint_of(result: Any) -> Any:
    """Return the error in *result*, which is text alone: a client may apply the output schema to more."""
    assert result.is_error
    assert result.structured_content is None
    return json.loads(result.content[0].text)


@asynccontextmanager
async def spoken(url: Any, mode: str, **options: Any) -> AsyncIterator[Client]:
    async with Client(url, mode=mode, **options) as client:
        yield client


@asynccontextmanager
async def bearing(url: str, mode: str, token: str | None, **options: Any) -> AsyncIterator[Client]:
    """Speak with *token* as the bearer of every request."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        spoken(streamable_http_client(url, http_client=http), mode, **options) as client,
    ):
        yield client


def in_league(script: Callable[[HttpLeague], Awaitable[None]], **changes: Any) -> None:
    """Run *script* with a league over real HTTP that waits for players."""

    async def main() -> None:
        async with HttpLeague(**changes) as league:
            await script(league)

    asyncio.run(main())
