"""A server of leagues in one process: no sockets, a real store."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_league.files.logger import AgentLogs
from agent_league.hosting.front import FrontDesk, make_front_site
from agent_league.hosting.server import LeagueServer, Place, ServerSpec
from agent_league.http.exchange import PageRequest
from agent_league.http.memory import Network
from agent_league.member import Member
from agent_league.protocol import Role, tokens
from agent_league.running.folder import Folder
from agent_league.running.house import Houses
from agent_league.running.lineup import ConfigFiles
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.season.settings import LeagueSettings
from agent_league.serving.league_sites import make_league_url
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json
from agent_league.web.kept_site import KeptSite

URL = "http://127.0.0.1:54000/mcp"
STAFF = tokens.new_token("server")


class ServerBox:
    """A running server, and everybody who calls it."""

    def __init__(self, net: Network, server: LeagueServer, kept: KeptSite) -> None:
        self.net, self.server, self.kept = net, server, kept
        self._members = 0
        self.tasks: list[asyncio.Task[None]] = []

    async def create(self, league_id: str, **settings: Any) -> str:
        """Open a league, and return the token of its organiser."""
        terms = LeagueSettings(seed="7", league_id=league_id, **settings)
        created = await self.server.create(terms)
        return str(created.token)

    async def add(
        self, role: Role, league_id: str | None, url: str = URL, name: str | None = None
    ) -> Member:
        """Let an agent join a league, and take part in it until it is over."""
        self._members += 1
        place = f"http://127.0.0.1:{54000 + self._members}/mcp"
        spec = AgentSpec(role, role, display_name=name or f"N{self._members}", endpoint=place)
        member = spec.make_member(self.net, LeagueLink(url, league_id=league_id))
        self.net.host(place, make_site(member))
        await member.register()
        return member

    async def fill(self, league_id: str, players: int) -> list[Member]:
        """Let a referee and players join a league, by its own address."""
        url = make_league_url(URL, league_id)
        await self.add(Role.REFEREE, None, url)
        return [await self.add(Role.PLAYER, None, url) for _ in range(players)]

    async def call(self, tool: str, url: str = URL, **arguments: Json) -> Any:
        """Call a tool, and return its result, or the detail of its error."""
        frame = {"jsonrpc": "2.0", "method": tool, "params": arguments, "id": 1}
        answer = await self.net.post(url, json.dumps(frame).encode(), 10.0)
        reply = json.loads(answer.body)
        return reply["result"] if "result" in reply else reply["error"]["data"]["detail"]

    async def read(self, path: str) -> Any:
        """Return what a program gets at a page."""
        answer: Any = self.kept.show(PageRequest(path))
        return json.loads((await answer).body)

    async def wait_for_matches(self, league_id: str, count: int) -> None:
        """Return when a league has played so many matches."""
        hosted, enough = self.server.directory.get(league_id), asyncio.Event()
        assert hosted is not None
        season = hosted.league.season
        hosted.league.manager.events.listen(
            lambda event: enough.set() if season.played >= count else None, needs_all_events=False
        )
        async with asyncio.timeout(20):
            await enough.wait()

    async def wait_until_over(self, *league_ids: str) -> None:
        async with asyncio.timeout(20):
            for league_id in league_ids:
                await self.server.wait_for_end(league_id)


@asynccontextmanager
async def open_server(folder: Path, net: Network | None = None) -> AsyncIterator[ServerBox]:
    """Run a server on the store in *folder*; leagues that have not ended go on."""
    wire, home = net or Network(), Folder(folder)
    with Houses((), "127.0.0.1", AgentLogs()) as houses:
        async with home.read_store() as store:
            server = LeagueServer(Place(ServerSpec(), home, store, wire, URL, houses), STAFF)
            desk = FrontDesk(server, ConfigFiles(folder))
            kept = KeptSite(store)
            wire.host(URL, replace(make_front_site(desk, server), show=kept.show))
            await server.resume()
            try:
                yield ServerBox(wire, server, kept)
            finally:
                await server.close()
                await desk.close()
