"""A league over real HTTP in one process, quick enough to lose patience in a moment."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from socket import socket
from typing import Any, Self

import msgspec

from agent_league.agent import Agent, Member
from agent_league.guests import GuestHouse
from agent_league.hosting import LOOPBACK, bound, url_of
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.player import Player, load_brain
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry
from agent_league.protocol.registration import PlayerMeta, RefereeMeta
from agent_league.referee import Referee
from agent_league.store import MemoryLog
from agent_league.store.log import Store
from agent_league.transport.http_client import HttpClient
from agent_league.transport.http_server import HttpServer
from misbehaving import Rascal

HASTY = Patience(
    register_referee=5.0,
    register_player=5.0,
    join=0.3,
    move=0.4,
    game_over=0.3,
    report=1.0,
    generic=0.5,
)
QUICKLY = Retry(attempts=3, base_delay=0.01)


def settings(**changes: Any) -> LeagueSettings:
    return LeagueSettings(
        **{
            "seed": "7",
            "patience": HASTY,
            "retry": QUICKLY,
            "heartbeat": 0.1,
            "farewell": 0.5,
            **changes,
        }
    )


class HttpLeague:
    """Starts agents on free ports, plays, and closes everything it opened."""

    def __init__(self, **changes: Any) -> None:
        self.wire = HttpClient()
        self.events = MemoryLog()
        self.store: Store | None = None
        self.manager = LeagueManager(settings(**changes), self.wire, self.events)
        self.url = ""
        self.servers: list[HttpServer] = []
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        sock = bound(LOOPBACK, 0)
        self.url = url_of(sock)
        GuestHouse(self.manager, self.url)
        await self._serve(self.manager, sock)
        await self.manager.open(self.store)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._opened.aclose()
        await self.wire.close()

    async def serve(self, agent: Agent) -> str:
        """Serve *agent* at a free port until the end, and return its endpoint."""
        sock = bound(LOOPBACK, 0)
        url = url_of(sock)
        await self._serve(agent, sock)
        return url

    async def _serve(self, agent: Agent, sock: socket) -> None:
        server = await HttpServer.start(agent.site(), sock)
        self.servers.append(server)
        self._opened.push_async_callback(agent.close)
        self._opened.push_async_callback(server.close, 0.1)

    async def join(self, make: Callable[[str], Member]) -> Member:
        """Serve the member that *make* makes for an endpoint, and register it."""
        sock = bound(LOOPBACK, 0)
        member = make(url_of(sock))
        server = await HttpServer.start(member.site(), sock)
        self._opened.push_async_callback(member.close)
        self._opened.push_async_callback(server.close, 0.1)
        member.server = server  # type: ignore[attr-defined]  # for a referee that vanishes
        await member.register()
        return member

    def free_port(self) -> int:
        """Return a port that nobody listens at just now."""
        with bound(LOOPBACK, 0) as sock:
            return int(sock.getsockname()[1])

    async def add_player(
        self, strategy: str = "random", games: Sequence[str] = ("even_odd",)
    ) -> Member:
        return await self.join(lambda url: self._player(url, strategy, games))

    async def add_referee(self, kind: type[Referee] = Referee, **meta: Any) -> Member:
        return await self.join(lambda url: kind(**self._referee(url, meta)))

    async def add_rascal(self, rascal: Rascal) -> None:
        """Let a misbehaving player in; it registers over HTTP like anybody else."""
        endpoint = await rascal.open()
        self._opened.push_async_callback(rascal.close)
        frame = {"jsonrpc": "2.0", "method": "register_player", "id": 1}
        body = msgspec.json.encode({**frame, "params": rascal.application(endpoint)})
        answer = await self.wire.post(self.url, body, 5.0)
        rascal.player_id = msgspec.json.decode(answer.body)["result"]["player_id"]

    async def add_stranger(self, endpoint: str) -> str:
        """Register whoever listens at *endpoint* as a player, and return its id."""
        registrar = self._player(endpoint, "random")
        await registrar.register()
        return registrar.name

    async def play(self, within: float = 40.0) -> None:
        await asyncio.wait_for(self.manager.run(), within)

    def _player(self, url: str, strategy: str, games: Sequence[str] = ("even_odd",)) -> Player:
        meta = PlayerMeta(
            display_name=f"Honest {url[-8:-4]}",
            version="1.0.0",
            game_types=list(games),
            contact_endpoint=url,
        )
        brain = load_brain(strategy)
        return Player("honest", self.wire, self.url, meta=meta, brain=brain, seed="7")

    def _referee(self, url: str, meta: dict[str, Any]) -> dict[str, Any]:
        fields = {
            "display_name": "Referee",
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": url,
            "max_concurrent_matches": 4,
        }
        made = RefereeMeta(**{**fields, **meta})
        return {"name": "whistle", "wire": self.wire, "league_url": self.url, "meta": made}


def played(script: Callable[[HttpLeague], Awaitable[None]], **changes: Any) -> HttpLeague:
    """Run *script* in a league over HTTP, and return the league as it ended."""

    async def main() -> HttpLeague:
        async with HttpLeague(**changes) as league:
            await script(league)
            return league

    return asyncio.run(main())
