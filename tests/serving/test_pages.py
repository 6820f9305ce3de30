"""A page is one entry in what an agent offers."""

import asyncio
from collections.abc import Mapping

import pytest

from agent_league.agent import Agent
from agent_league.http.exchange import Answer
from agent_league.http.memory import Network
from agent_league.http.server import HttpServer
from agent_league.offer import Offer
from agent_league.peers.endpoint import Handler
from agent_league.protocol import Message, Role
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json
from serving.callers import Got, sent


def square(number: str) -> Json:
    return {"square": int(number) ** 2} if number.isdecimal() else None


class Shown(Agent):
    """An agent with pages of its own, which answers no messages."""

    role = Role.PLAYER

    def handlers(self) -> Mapping[type[Message], Handler]:
        return {}

    def offer(self) -> Offer:
        return Offer(
            pages={
                "/hello.html": lambda: Answer(200, b"<h1>Hello</h1>", "text/html; charset=utf-8"),
                "/squares/{number}": square,
            }
        )


def shown(path: str) -> Got:
    async def main() -> Got:
        sock = bind(LOOPBACK, 0)
        server = await HttpServer.start(make_site(Shown("P01", Network())), sock)
        try:
            return await sent(url_of(sock).removesuffix("/mcp") + path, b"", {}, "GET")
        finally:
            await server.close()

    return asyncio.run(main())


def test_one_entry_serves_a_page_of_html() -> None:
    page = shown("/hello.html")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.frame == b"<h1>Hello</h1>"


@pytest.mark.parametrize(
    ("path", "status", "content"),
    [
        ("/squares/3", 200, {"square": 9}),
        ("/squares/3/", 200, {"square": 9}),
        ("/squares/x", 404, {"error": "there is nothing at /squares/x"}),
        ("/squares/1/2", 404, {"error": "there is nothing at /squares/1/2"}),
        ("/healthz", 200, {"status": "ok"}),
    ],
)
def test_a_page_may_have_variables_and_find_nothing(
    path: str, status: int, content: object
) -> None:
    page = shown(path)
    assert (page.status, page.headers["content-type"]) == (status, "application/json")
    assert page.frame == content
