"""Our league in one process: over HTTP, or over the wire in memory."""

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from agent_league.agent import Agent
from agent_league.http.client import HttpClient
from agent_league.http.exchange import Wire
from agent_league.http.memory import Network
from agent_league.http.server import HttpServer
from agent_league.league import LeagueManager
from agent_league.member import Member
from agent_league.running.event_loop import run
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.running.specs import LeagueLink, LeagueSpec
from agent_league.season.season import Season
from agent_league.serving.site import make_site
from agent_league.store import Event, EventLog
from agent_league.store.events import SeasonEnded, SeasonStarted
from agent_league.store.store import Store
from bench.measurement import Cost, Reading, compute_cost, read_clocks
from bench.ours import make_spec

FIRST_PORT = 54_000
"""Addresses in memory are as long as real ones: they are in the messages."""


class Venue(Protocol):
    """Where agents are served, and how they reach each other."""

    @property
    def wire(self) -> Wire: ...

    def find_place(self) -> str:
        """Return an address that nobody has yet."""

    async def serve(self, agent: Agent, url: str) -> None: ...

    async def close(self) -> None: ...


class HttpVenue:
    """Real servers on ports of their own, and one client."""

    def __init__(self, client: HttpClient | None = None) -> None:
        self.wire = client or HttpClient()
        self._sockets: dict[str, socket.socket] = {}
        self._servers: list[HttpServer] = []

    def find_place(self) -> str:
        sock = bind(LOOPBACK, 0)
        self._sockets[url_of(sock)] = sock
        return url_of(sock)

    async def serve(self, agent: Agent, url: str) -> None:
        self._servers.append(await HttpServer.start(make_site(agent), self._sockets[url]))

    async def close(self) -> None:
        await self.wire.close()
        for server in self._servers:
            await server.close()


class MemoryVenue:
    """No sockets and no HTTP: bodies are handed over."""

    def __init__(self) -> None:
        self.wire = Network()
        self._places = 0

    def find_place(self) -> str:
        self._places += 1
        return f"http://{LOOPBACK}:{FIRST_PORT + self._places}/mcp"

    async def serve(self, agent: Agent, url: str) -> None:
        self.wire.host(url, make_site(agent))

    async def close(self) -> None:
        pass


async def play_here(
    spec: LeagueSpec,
    venue: Venue,
    on_event: Callable[[Event, Season], None],
    store: Store | None = None,
) -> None:
    """Play a league to its end; all agents are in this process."""
    place = venue.find_place()
    manager = LeagueManager(spec.settings, venue.wire, EventLog())
    manager.events.listen(lambda event: on_event(event, manager.season))
    await manager.open(store)
    await venue.serve(manager, place)
    link = LeagueLink(place, seed=spec.settings.seed, is_ours=True)
    members: list[Member] = []
    for agent in (*spec.referees, *spec.players):
        url = venue.find_place()
        members.append(replace(agent, endpoint=url).make_member(venue.wire, link))
        await venue.serve(members[-1], url)
    async with asyncio.TaskGroup() as group:
        group.create_task(manager.run())
        for member in members:
            group.create_task(_take_part(member))
    for each in (*members, manager):
        await each.close()
    await venue.close()
    if store is not None:
        await store.close()


async def _take_part(member: Member) -> None:
    await member.register()
    await member.over.wait()


def play_without_http(players: int) -> Cost:
    """Return what the league costs that hands over bodies in memory."""
    readings: list[Reading] = []
    matches = 0

    def note(event: Event, season: Season) -> None:
        nonlocal matches
        if isinstance(event, (SeasonStarted, SeasonEnded)):
            readings.append(read_clocks({"all": [os.getpid()]}))
            matches = season.played

    run(play_here(make_spec(players), MemoryVenue(), note))
    return compute_cost(matches, *readings)
