"""A server to meet, and callers that send it any bytes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeAlias

from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.http.site import Headers, Site

Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]

LIMIT = 1000


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Caller:
    """A raw connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def reply(self) -> Reply:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return Reply(int(head[0].split()[1]), headers, body)

    async def ended(self) -> bool:
        return await self.reader.read() == b""


class Place:
    """A running server, and what its agent was asked."""

    def __init__(self, port: int, server: HttpServer, asked: list[bytes]) -> None:
        self.port, self.server, self.asked = port, server, asked
        self.callers: list[Caller] = []

    async def caller(self) -> Caller:
        caller = Caller(*await asyncio.open_connection("127.0.0.1", self.port))
        self.callers.append(caller)
        return caller

    async def send(self, data: bytes) -> Reply:
        caller = await self.caller()
        caller.send(data)
        return await caller.reply()


Handler: TypeAlias = Callable[[bytes], Any]


def echo(body: bytes) -> Answer:
    return Answer(200, body)


async def slowly(body: bytes) -> Answer:
    for _ in range(5):
        await asyncio.sleep(0)
    return Answer(200, body)


def mixed(body: bytes) -> Any:
    return slowly(body) if body.startswith(b"slow") else echo(body)


@asynccontextmanager
async def place(
    handler: Handler = echo, patience: float = 5.0, pages: dict[str, Any] | None = None
) -> AsyncIterator[Place]:
    asked: list[bytes] = []

    def answer(body: bytes, headers: Headers) -> Any:
        asked.append(body)
        return handler(body)

    site = Site(
        answer=answer,
        find_page={"/": {"name": "P01"}, "/a b": 1, **(pages or {})}.get,
        too_large=lambda: Answer(413, b'{"too":"large"}'),
        body_limit=LIMIT,
        body_patience=patience,
    )
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    here = Place(port, await HttpServer.start(site, sock), asked)
    try:
        yield here
    finally:
        for caller in here.callers:
            caller.writer.close()
        await here.server.close(0.2)
        assert asyncio.all_tasks() == {asyncio.current_task()}


def post(body: bytes, *headers: str, path: str = "/mcp", version: str = "1.1") -> bytes:
    lines = [f"POST {path} HTTP/{version}", "host: localhost:1", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


def get(path: str, *headers: str, method: str = "GET") -> bytes:
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", "host: localhost:1", *headers, "", ""]
    ).encode()


def reply_to(run: Run, data: bytes, handler: Handler = echo) -> Reply:
    async def main() -> Reply:
        async with place(handler) as here:
            return await here.send(data)

    reply = run(main())
    assert isinstance(reply, Reply)
    return reply


async def fail_later(body: bytes) -> Answer:
    await asyncio.sleep(0)
    raise KeyError(body)


def fail_now(body: bytes) -> Answer:
    raise KeyError(body)
