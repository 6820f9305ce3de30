"""A league over real HTTP in one process."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from socket import socket
from typing import Any, Self, TypeAlias

import msgspec

from agent_league.agent import Agent
from agent_league.guests import GuestDesk
from agent_league.http.client import HttpClient
from agent_league.http.limits import ConnectionLimit
from agent_league.http.server import HttpServer
from agent_league.league import LeagueManager
from agent_league.member import Member
from agent_league.player import Player, load_brain
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry
from agent_league.protocol.registration import PlayerMeta, RefereeMeta
from agent_league.referee import Referee
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.season.settings import LeagueSettings
from agent_league.serving.site import make_site
from agent_league.store.store import Store
from memory_log import MemoryLog
from misbehaving import Rascal
from timewarp import run_over_sockets

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
        self._limit = ConnectionLimit(4096)
        """Its own: what earlier leagues of the process were asked must not count."""

    async def __aenter__(self) -> Self:
        sock = bind(LOOPBACK, 0)
        self.url = url_of(sock)
        GuestDesk(self.manager, self.url)
        await self._serve(self.manager, sock)
        await self.manager.open(self.store)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._opened.aclose()
        await self.wire.close()

    async def serve(self, agent: Agent) -> str:
        """Serve *agent* at a free port until the end, and return its endpoint."""
        sock = bind(LOOPBACK, 0)
        url = url_of(sock)
        await self._serve(agent, sock)
        return url

    async def _serve(self, agent: Agent, sock: socket) -> None:
        server = await HttpServer.start(make_site(agent), sock, self._limit)
        self.servers.append(server)
        self._opened.push_async_callback(agent.close)
        self._opened.push_async_callback(server.close, 0.1)

    async def join(self, make: Callable[[str], Member]) -> Member:
        """Serve the member that *make* makes for an endpoint, and register it."""
        sock = bind(LOOPBACK, 0)
        member = make(url_of(sock))
        server = await HttpServer.start(make_site(member), sock, self._limit)
        self._opened.push_async_callback(member.close)
        self._opened.push_async_callback(server.close, 0.1)
        member.server = server  # type: ignore[attr-defined]  # for a referee that vanishes
        await member.register()
        return member

    async def add_player(
        self, strategy: str = "random", games: Sequence[str] = ("even_odd",)
    ) -> Member:
        return await self.join(lambda url: self._player(url, strategy, games))

    async def add_referee(self, kind: type[Referee] = Referee, **meta: Any) -> Member:
        return await self.join(lambda url: kind(**self._referee(url, meta)))

    async def add_rascal(self, rascal: Rascal) -> None:
        """Let a misbehaving player in; it registers over HTTP like anybody else."""
        endpoint = await rascal.server.open()
        self._opened.push_async_callback(rascal.server.close)
        frame = {"jsonrpc": "2.0", "method": "register_player", "id": 1}
        body = msgspec.json.encode({**frame, "params": rascal.application(endpoint)})
        answer = await self.wire.post(self.url, body, 5.0)
        rascal.player_id = msgspec.json.decode(answer.body)["result"]["player_id"]

    async def add_endpoint(self, endpoint: str) -> str:
        """Register whoever listens at *endpoint* as a player, and return its id."""
        registrar = self._player(endpoint, "random")
        await registrar.register()
        return registrar.name

    async def play(self) -> None:
        await self.manager.run()

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


Script: TypeAlias = Callable[[HttpLeague], Awaitable[None]]


def played(script: Script, **changes: Any) -> HttpLeague:
    """Run *script* in a league over HTTP whose agents are all here; return it as it ended."""
    return run_over_sockets(_play(script, {"patience": HASTY, **changes}))


def played_with_programs(script: Script, **changes: Any) -> HttpLeague:
    """Do the same in real time, for agents that are programs of their own."""
    return asyncio.run(_play(script, changes))


async def _play(script: Script, changes: dict[str, Any]) -> HttpLeague:
    async with HttpLeague(**changes) as league:
        await script(league)
        return league
