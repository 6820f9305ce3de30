"""What is run: an agent, a league of agents, and how they reach each other."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, repeat
from math import ceil
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct

from agent_league.clock import system_clock
from agent_league.dialects.mcp.client import McpClient
from agent_league.dialects.mcp.session import McpSession
from agent_league.dialects.mcp.transports import HttpTransport, StdioTransport, Transport
from agent_league.http.exchange import Wire
from agent_league.member import Member
from agent_league.player import Player, Relay, RemoteSession, load_brain
from agent_league.protocol import Patience, Role
from agent_league.protocol.fields import VERSION as LEAGUE_VERSION
from agent_league.protocol.play import Retry
from agent_league.protocol.registration import PlayerMeta, RefereeMeta, TableWish
from agent_league.referee import Referee
from agent_league.running.serve import LOOPBACK
from agent_league.season.settings import LeagueSettings
from agent_league.store.store import Durability
from agent_league.vocabulary import Level

VERSION = "1.0.0"
PROTOCOL_VERSION = "2.1.0"
"""What a player says that it speaks; some leagues take a player that says nothing as older."""
MANAGER_PORT = 8000
PORT_OFFSETS: Mapping[Role, int] = {Role.REFEREE: 1, Role.PLAYER: 101}
"""The first port of each role, counted from the manager's port, as the protocol numbers them."""
MOST_NUMBERED = 100
ID_PREFIXES: Mapping[Role, str] = {Role.REFEREE: "REF", Role.PLAYER: "P"}


@dataclass(frozen=True)
class LeagueLink:
    """Where a league is, and how its agents speak to it."""

    url: str
    other_urls: Sequence[str] = field(default=(), kw_only=True)
    """Further addresses of the same league, which agents try in turn."""
    league_id: str | None = None
    """The league to join; None joins whichever is there."""
    dialect: str = LEAGUE_VERSION
    """The version of the protocol that players speak."""
    game_types: Sequence[str] = ("even_odd",)
    """What an agent plays whose spec names no game."""
    seed: str | None = None
    patience: Patience = field(default_factory=Patience)
    retry: Retry = field(default_factory=Retry)
    waits_for_league: bool = False
    """Whether agents wait for a league that is not there yet."""
    join_code: str | None = None
    trace: bool = False
    """Whether each call says to which trace it belongs."""
    is_ours: bool = False
    """Whether the league's own process started the agents: they try to join as long as it lives."""


@dataclass(frozen=True)
class AgentSpec:
    """A referee or a player: who it is, where it listens, and how it plays."""

    role: Role
    agent_id: str
    port: int = 0
    """0 takes any that is free."""
    display_name: str = ""
    version: str = VERSION
    game_types: Sequence[str] = ()
    """Empty means the games of its `LeagueLink`."""
    capacity: int = 10
    """The matches that a referee runs at once."""
    strategy: str | None = None
    mcp_command: str | None = None
    """The command of an MCP server that makes a player's moves."""
    mcp_url: str | None = None
    """The address of an MCP server that makes a player's moves."""
    mcp_headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """What is sent to that address with every request; it may be secret."""
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    """Where players listen, for a referee of a league whose orders do not say it."""
    standings: TableWish | None = None
    """Which updates of the table a player asks for; None: what is usual."""
    endpoint: str = ""
    """The address that others use; empty means the address where it listens."""
    identity_path: Path | None = None
    """The file in which it keeps its id, its token and its history between two runs."""
    learned_path: Path | None = None
    """The file in which a strategy that learns keeps what it has learned, for the next league."""

    @property
    def own_program(self) -> str | None:
        """The program of the user's own that makes its moves, if it is none of ours."""
        is_file = self.strategy is not None and self.strategy.endswith(".py")
        return self.mcp_command or (self.strategy if is_file else None)

    def make_member(self, wire: Wire, link: LeagueLink) -> Member:
        """Return the agent, which has yet to be served and registered."""
        member = self._make_member(wire, link)
        member.join_code = link.join_code
        member.other_urls = list(link.other_urls)
        return member

    def _make_member(self, wire: Wire, link: LeagueLink) -> Member:
        about: dict[str, Any] = {
            "display_name": self.display_name,
            "version": self.version,
            "game_types": list(self.game_types or link.game_types),
            "contact_endpoint": self.endpoint,
        }
        options: dict[str, Any] = {"league_id": link.league_id, "patience": link.patience}
        if self.role is Role.REFEREE:
            meta = RefereeMeta(**about, max_concurrent_matches=self.capacity)
            options |= {"meta": meta, "addresses": self.addresses}
            return Referee(self.agent_id, wire, link.url, **options)
        about |= {"protocol_version": PROTOCOL_VERSION, "standings_updates": self.standings}
        if link.is_ours:  # third-party leagues may refuse a field that they do not know
            about |= {"notices": "compact", "standings_updates": self.standings or "neighbours"}
        options["dialect"] = link.dialect
        transport = self._make_transport(wire)
        if transport is not None:
            remote = RemoteSession(
                lambda who: McpSession(McpClient(transport), who, system_clock), transport.close
            )
            options["meta"] = PlayerMeta(**about)
            return Relay(self.agent_id, wire, link.url, remote=remote, **options)
        brain = load_brain(self.strategy or "random")
        if link.is_ours and brain.trusted:  # it answers at once
            about["questions"] = "batched"
        options["meta"] = PlayerMeta(**about)
        return Player(self.agent_id, wire, link.url, brain=brain, seed=link.seed, **options)

    def _make_transport(self, wire: Wire) -> Transport | None:
        """Return the way to the MCP server that makes its moves, if there is one."""
        if self.mcp_command is not None:
            return StdioTransport(self.mcp_command)
        if self.mcp_url is not None:
            return HttpTransport(self.mcp_url, wire.exchange, self.mcp_headers)
        return None


def claim_id(role: Role, port: int) -> str | None:
    """Return the id that belongs to *port* in the numbering of the protocol: P04 for 8104."""
    number = port - MANAGER_PORT - PORT_OFFSETS[role] + 1
    return f"{ID_PREFIXES[role]}{number:02}" if 0 < number < MOST_NUMBERED else None


def number_agents(role: Role, count: int) -> list[AgentSpec]:
    """Return *count* agents with the ids P01, P02 and so on, or REF01, REF02 and so on."""
    ids = [f"{ID_PREFIXES[role]}{number:02}" for number in range(1, count + 1)]
    title = "Referee " if role is Role.REFEREE else ""
    return [AgentSpec(role, agent_id, display_name=f"{title}{agent_id}") for agent_id in ids]


def assign_ports(agents: Sequence[AgentSpec], base: int) -> list[AgentSpec]:
    """Return *agents* of one role at the ports that follow *base*; 0 takes any that are free."""
    return [
        replace(agent, port=base + PORT_OFFSETS[agent.role] + number if base else 0)
        for number, agent in enumerate(agents)
    ]


MOST_IN_A_PROCESS = 200
"""Python hands at most 251 sockets to a process that it starts from a server."""


def count_cores() -> int:
    """Return how many processes of ours can run at the same time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LeagueSpec:
    """A league whose manager, and perhaps referees and players, run on this machine."""

    settings: LeagueSettings
    referees: Sequence[AgentSpec] = ()
    players: Sequence[AgentSpec] = ()
    port_base: int = MANAGER_PORT
    """The manager's port; 0 takes any that is free."""
    host: str = LOOPBACK
    endpoint: str | None = None
    """The manager's address that others use, if that is not where it listens."""
    max_processes: int = field(default_factory=count_cores)
    """How many processes the agents share: one for the referees, the others for the players."""
    isolate: bool = False
    """Whether every agent has a process of its own."""
    log_level: Level = "INFO"
    store: str | None = None
    """The address of the league's store, if that is not the one in its folder."""
    durability: Durability = "power"
    issuer: str | None = None
    """The OAuth server that knows who may use the tools of the league; None: anybody may."""
    networks: Sequence[str] = ()
    """Where agents may listen; empty: on this machine, or in private networks if *host* is in one."""
    trace: bool = False
    """Whether each call says to which trace it belongs (`traceparent`)."""
    aliases: bool = False
    """Whether the manager's pages hide the names of the players."""

    @property
    def is_manager_only(self) -> bool:
        return not self.referees and not self.players

    @property
    def has_open_seats(self) -> bool:
        """Whether others can join, who may be clients of MCP."""
        awaited = self.settings.awaited_players
        return awaited is None or awaited > len(self.players)

    @property
    def processes(self) -> list[Sequence[AgentSpec]]:
        """The agents of each process; a program of the user's own shares none with another."""
        if self.isolate:
            return [[agent] for agent in (*self.referees, *self.players)]
        by_program: dict[str | None, list[AgentSpec]] = {}
        for player in self.players:
            by_program.setdefault(player.own_program, []).append(player)
        groups = [_divide(agents, self.max_processes - 1) for agents in by_program.values()]
        return [*_divide(self.referees, 1), *chain.from_iterable(groups)]

    def with_ports(self, base: int) -> Self:
        """Return the same league at other ports: the manager's is *base*, or 0 for any."""
        referees, players = assign_ports(self.referees, base), assign_ports(self.players, base)
        return replace(self, port_base=base, endpoint=None, referees=referees, players=players)

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(self, enc_hook=str))
        path.chmod(0o600)  # with the seed, every draw could be foreseen

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Return the spec that was saved at *path*, if there is one."""
        if not path.exists():
            return None
        saved = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        current = _upgrade(saved) if "strategies" in saved else saved
        return msgspec.convert(current, type=cls, dec_hook=lambda _, raw: Path(raw))


def _divide(agents: Sequence[AgentSpec], most: int) -> list[Sequence[AgentSpec]]:
    """Return *agents* in *most* groups of about the same size, or in more if one were too large."""
    groups = max(1, most, ceil(len(agents) / MOST_IN_A_PROCESS))
    size = max(1, ceil(len(agents) / groups))
    return [agents[first : first + size] for first in range(0, len(agents), size)]


class _OldFile(Struct):
    """The parts of a saved spec from when names and strategies were lists of their own."""

    names: list[str]
    strategies: list[str]
    referees: int
    port_base: int = MANAGER_PORT
    referee_places: list[dict[str, Any]] = []
    player_places: list[dict[str, Any]] = []


def _upgrade(saved: dict[str, Any]) -> dict[str, Any]:
    """Return an old file in today's form."""
    old = msgspec.convert(saved, _OldFile)
    referees = _fill(Role.REFEREE, old.referees, old.port_base, old.referee_places)
    players = _fill(Role.PLAYER, len(old.names), old.port_base, old.player_places)
    for player, name, strategy in zip(players, old.names, old.strategies, strict=False):
        player |= {"display_name": name, "strategy": strategy}
    return {**saved, "referees": referees, "players": players}


def _fill(
    role: Role, count: int, base: int, places: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return *count* agents: what *places* do not say follows from the number of an agent."""
    numbered = assign_ports(number_agents(role, count), base)
    given = chain(places, repeat({}))
    return [{**asdict(agent), **place} for agent, place in zip(numbered, given, strict=False)]
