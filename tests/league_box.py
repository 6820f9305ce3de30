"""A whole league in one process: no sockets, and a clock that jumps ahead."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agent_league.agent import Agent
from agent_league.clock import format_time
from agent_league.dialects.v2.session import V2Session
from agent_league.http.exchange import Answer
from agent_league.http.memory import Network
from agent_league.http.site import Site
from agent_league.league import LeagueManager
from agent_league.member import Member
from agent_league.peers.line import Line
from agent_league.player import Player, load_brain
from agent_league.protocol import Envelope, Message, Patience, Request, Role, name
from agent_league.protocol.queries import Query, QueryAnswer, QueryType
from agent_league.protocol.registration import (
    PlayerMeta,
    RefereeMeta,
    RegisterPlayer,
    RegisterReferee,
)
from agent_league.referee import Referee
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.serving.site import make_site
from agent_league.store import Event
from agent_league.vocabulary import Json
from memory_log import MemoryLog
from scripted import Scripted, hosted
from timewarp import clock, now, run

LEAGUE_URL = "http://league/mcp"
VERSION = "1.0.0"

Peer: TypeAlias = Site | Callable[[bytes], Answer | Awaitable[Answer]]


@dataclass(frozen=True)
class Exchange:
    """A body that was sent, and what came back."""

    at: float
    url: str
    sent: bytes
    answer: Answer | None
    """None if there was none."""

    @property
    def message(self) -> Json:
        frame = json.loads(self.sent)
        return frame.get("params") if "method" in frame else frame

    @property
    def kind(self) -> str:
        return str(self.message.get("message_type"))


class Recorder(Network):
    """A network in memory that keeps every exchange, in the order of sending."""

    def __init__(self) -> None:
        super().__init__()
        self.exchanges: list[Exchange] = []

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        place, sent_at = len(self.exchanges), now()
        self.exchanges.append(Exchange(sent_at, url, body, None))
        answer = await super().post(url, body, within)
        self.exchanges[place] = Exchange(sent_at, url, body, answer)
        return answer


def player_url(number: int) -> str:
    return f"http://p{number:02}/mcp"


def referee_url(number: int) -> str:
    return f"http://ref{number:02}/mcp"


def player_meta(endpoint: str, **changes: Any) -> PlayerMeta:
    meta: dict[str, Any] = {
        "display_name": f"Player at {endpoint}",
        "version": VERSION,
        "game_types": ["even_odd", "tic_tac_toe"],
        "contact_endpoint": endpoint,
    }
    return PlayerMeta(**{**meta, **changes})


def referee_meta(endpoint: str, **changes: Any) -> RefereeMeta:
    meta: dict[str, Any] = {
        "display_name": f"Referee at {endpoint}",
        "version": VERSION,
        "game_types": ["even_odd", "tic_tac_toe"],
        "contact_endpoint": endpoint,
        "max_concurrent_matches": 10,
    }
    return RefereeMeta(**{**meta, **changes})


@dataclass
class Guest:
    """An agent that is not one of ours: the test registers it, and *peer* answers for it."""

    net: Network
    role: Role
    url: str
    peer: Peer
    meta: dict[str, Any] = field(default_factory=dict)
    name: str = "guest"
    token: str | None = None

    @property
    def line(self) -> Line:
        return Line(V2Session(LEAGUE_URL, self.net.post), Patience())

    def stamp(self) -> Envelope:
        return {
            "protocol": "league.v2",
            "sender": f"{self.role}:{self.name}",
            "timestamp": format_time(clock()),
            "conversation_id": "conv-guest",
        }

    def listen(self) -> None:
        self.net.host(self.url, self.peer if isinstance(self.peer, Site) else hosted(self.peer))

    def leave(self) -> None:
        self.net.unhost(self.url)

    def application(self) -> Request[Any]:
        if self.role is Role.PLAYER:
            meta = player_meta(self.url, **self.meta)
            return RegisterPlayer(**self.stamp(), auth_token=self.token, player_meta=meta)
        referee = referee_meta(self.url, **self.meta)
        return RegisterReferee(**self.stamp(), auth_token=self.token, referee_meta=referee)

    async def register(self) -> Any:
        """Return the league's reply; once admitted, the guest uses the id and token it was given."""
        reply = await self.line.ask(self.application())
        if reply.agent_id is not None:
            self.name, self.token = reply.agent_id, reply.auth_token
            if isinstance(self.peer, Scripted):
                self.peer.who = reply.agent_id
        return reply

    async def query(self, query_type: QueryType, params: Json, **changes: Any) -> QueryAnswer:
        own = {"auth_token": self.token, "league_id": LeagueSettings.league_id}
        fields: dict[str, Any] = {**self.stamp(), **own, **changes}
        question = Query(**fields, query_type=query_type, query_params=dict(params))
        return await self.line.ask(question)


class Box:
    """Builds a league, plays it, and keeps its events and exchanges for the test to look at.

    *players* are names of strategies; *guests* is how many more will register.
    """

    def __init__(
        self,
        players: Sequence[str] = (),
        referees: int = 1,
        *,
        capacity: int = 10,
        guests: int = 0,
        **settings: Any,
    ) -> None:
        self.net = Recorder()
        chosen = {"seed": "box", "awaited_players": len(players) + guests, **settings}
        self.settings = LeagueSettings(**chosen)
        self.events = MemoryLog()
        self.manager = LeagueManager(self.settings, self.net, self.events, clock=clock)
        self.referees = [self._referee(n, capacity) for n in range(1, referees + 1)]
        self.players = [self._player(n, brain) for n, brain in enumerate(players, 1)]
        self.guests: list[Guest] = []

    @property
    def season(self) -> Season:
        return self.manager.season

    @property
    def members(self) -> list[Member]:
        return [*self.referees, *self.players]

    @property
    def exchanges(self) -> list[Exchange]:
        return self.net.exchanges

    def _referee(self, number: int, capacity: int) -> Referee:
        meta = referee_meta(referee_url(number), max_concurrent_matches=capacity)
        return Referee(f"REF{number:02}", self.net, LEAGUE_URL, meta=meta, clock=clock)

    def _player(self, number: int, brain: str) -> Player:
        meta = player_meta(player_url(number), display_name=f"Player {number}")
        return Player(
            f"P{number:02}",
            self.net,
            LEAGUE_URL,
            meta=meta,
            brain=load_brain(brain),
            seed=self.settings.seed,
            clock=clock,
        )

    def guest(self, peer: Peer, role: Role = Role.PLAYER, **meta: Any) -> Guest:
        """Add an agent for which *peer* answers."""
        url = f"http://guest{len(self.guests) + 1}/mcp"
        made = Guest(self.net, role, url, peer, meta)
        self.guests.append(made)
        return made

    async def open(self) -> None:
        """Open registration; everybody listens, nobody is registered."""
        await self.manager.open()
        self.net.host(LEAGUE_URL, make_site(self.manager))
        for number, referee in enumerate(self.referees, 1):
            self.net.host(referee_url(number), make_site(referee))
        for number, player in enumerate(self.players, 1):
            self.net.host(player_url(number), make_site(player))
        for guest in self.guests:
            guest.listen()

    async def fill(self) -> None:
        """Register everybody: our referees, our players, the guests."""
        for member in self.members:
            await member.register()
        for guest in self.guests:
            await guest.register()

    async def play(self) -> None:
        """Play the season to its end."""
        await self.open()
        await self.fill()
        await self.manager.run()
        await self.close()

    async def close(self) -> None:
        agents: list[Agent] = [self.manager, *self.members]
        for agent in agents:
            await agent.close()

    def happened(self, *kinds: type[Event]) -> list[Any]:
        """Return the events of these kinds, in order."""
        return [event for event in self.events if isinstance(event, kinds)]

    def sent(self, *kinds: type[Message], to: str | None = None) -> list[Exchange]:
        """Return the exchanges that carried these messages, in order."""
        names = {name(kind) for kind in kinds}
        return [e for e in self.exchanges if e.kind in names and to in (None, e.url)]


def played(box: Box) -> Box:
    """Play *box* to its end in virtual time, and return it."""
    run(box.play())
    return box
