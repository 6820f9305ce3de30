"""Practice: an agent elsewhere plays against our strategies, in a league inside this process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agent_league.chance import new_seed
from agent_league.clock import system_clock
from agent_league.http.client import HttpClient
from agent_league.http.memory import Network
from agent_league.league import LeagueManager
from agent_league.member import Member
from agent_league.peers.lines import Peers
from agent_league.player import Player, Relay, load_brain
from agent_league.practice.addressee import refuse_other_roles
from agent_league.practice.trainee import TimedCall, Trainee
from agent_league.protocol import LeagueError, Patience
from agent_league.protocol.play import Retry
from agent_league.protocol.registration import PlayerMeta, RefereeMeta
from agent_league.referee import Referee
from agent_league.running.specs import VERSION
from agent_league.season.settings import LeagueSettings
from agent_league.serving.site import make_site
from agent_league.store import EventLog
from agent_league.store.events import MatchEnded
from agent_league.vocabulary import Json

LEAGUE_URL = "http://practice.invalid/mcp"
"""Never looked up: the agents of the practice league are reached without a socket."""
TIME_TO_ANSWER = 5.0


def is_address(name: str) -> bool:
    """Whether *name* is the address of an agent, and no strategy."""
    return name.startswith(("http://", "https://"))


class AgentAbsentError(LeagueError):
    """Nobody answers at the address of the agent."""


@dataclass(frozen=True)
class PracticePlan:
    """Which agent practises, and against whom."""

    agent: str
    opponents: Sequence[str]
    """Strategies, by name or file, or the addresses of other agents."""
    matches: int = 100
    """How many against each opponent."""
    game_type: str = "even_odd"
    seed: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """The options of the game."""
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True)
class PracticeReport:
    """How each match ended, and every call to the agent."""

    plan: PracticePlan
    agent_id: str
    opponent_ids: Sequence[str]
    """In the order of the opponents."""
    results: Sequence[MatchEnded]
    calls: Sequence[TimedCall]


Progress: TypeAlias = Callable[[int], None]
"""Called after each match of the agent with how many it has played."""


async def run_practice(
    plan: PracticePlan, progress: Progress = lambda played: None
) -> PracticeReport:
    """Let the agent play, or raise `AgentAbsentError` or `NotAPlayerError`."""
    wire = HttpClient()
    try:
        for address in (plan.agent, *filter(is_address, plan.opponents)):
            if not await wire.reaches(address, TIME_TO_ANSWER):
                raise AgentAbsentError(f"nobody answers at {address}")
            await refuse_other_roles(wire, address, TIME_TO_ANSWER)
        return await _PracticeLeague(plan, wire, progress).run()
    finally:
        await wire.close()


class _PracticeLeague:
    """A manager, a referee, the opponents, and a relay for the agent, in one process."""

    def __init__(self, plan: PracticePlan, wire: HttpClient, progress: Progress) -> None:
        self._plan, self._wire, self._progress = plan, wire, progress
        self._played = 0
        self._net = Network()
        self._seed = plan.seed or new_seed()
        events = EventLog()
        events.when_kept(MatchEnded, self._on_match_ended)
        self._manager = LeagueManager(self._make_settings(), self._net, events)
        self._trainee = self._make_trainee(plan.agent)
        self._relay = self._make_relay(self._trainee, "agent")
        self._opponents = [self._make_opponent(n, name) for n, name in enumerate(plan.opponents)]

    async def run(self) -> PracticeReport:
        meta = RefereeMeta(**self._describe("Referee", "referee"), max_concurrent_matches=10)
        referee = Referee("referee", self._net, LEAGUE_URL, meta=meta)
        members: list[Member] = [referee, self._relay, *self._opponents]
        await self._manager.open()
        self._net.host(LEAGUE_URL, make_site(self._manager))
        try:
            for member in members:
                self._net.host(member.meta.contact_endpoint, make_site(member))
                await member.register()
            await self._manager.run()
        finally:
            for agent in (self._manager, *members):
                await agent.close()
        return PracticeReport(
            self._plan,
            self._relay.name,
            [opponent.name for opponent in self._opponents],
            list(self._manager.season.results.values()),
            self._trainee.calls,
        )

    def _on_match_ended(self, ended: MatchEnded) -> None:
        if self._relay.name in ended.players:
            self._played += 1
            self._progress(self._played)

    def _make_settings(self) -> LeagueSettings:
        given, players = self._plan.patience, 1 + len(self._plan.opponents)
        # The league waits longer for the relay than the relay waits for the agent.
        relayed = ("join", "move", "game_over", "generic")
        patience = Patience(**{key: getattr(given, key) + TIME_TO_ANSWER for key in relayed})
        return LeagueSettings(
            league_id="practice",
            seed=self._seed,
            game_type=self._plan.game_type,
            options=self._plan.options,
            legs=self._plan.matches,
            awaited_players=players,
            max_players=players,
            patience=patience,
            retry=Retry(attempts=1),  # nothing is asked twice, so that every fault shows
        )

    def _describe(self, display_name: str, host: str) -> dict[str, Any]:
        return {
            "display_name": display_name,
            "version": VERSION,
            "game_types": [self._plan.game_type],
            "contact_endpoint": f"http://{host}.invalid/mcp",
        }

    def _make_trainee(self, address: str) -> Trainee:
        peers = Peers(self._wire, self._plan.patience, system_clock)
        return Trainee(peers.line(address))

    def _make_relay(self, trainee: Trainee, host: str) -> Relay:
        return Relay(
            host,
            self._net,
            LEAGUE_URL,
            meta=PlayerMeta(**self._describe(f"The {host}", host)),
            remote=trainee,
            notices_wait=True,
            patience=self._plan.patience,
        )

    def _make_opponent(self, number: int, strategy: str) -> Member:
        if is_address(strategy):
            return self._make_relay(self._make_trainee(strategy), f"opponent-{number}")
        brain = load_brain(strategy)
        meta = PlayerMeta(**self._describe(brain.name[:50], f"opponent-{number}"))
        seed = f"{self._seed}|{number}"
        return Player("opponent", self._net, LEAGUE_URL, meta=meta, brain=brain, seed=seed)
