"""Practice: an agent that is somewhere plays against our strategies, in a league that is all in here."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_league.agent import Agent, Member
from agent_league.hosting import VERSION
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.player import Player, load_brain
from agent_league.practice.envoy import Envoy, Exchange
from agent_league.protocol import LeagueError, Patience
from agent_league.protocol.play import Retry
from agent_league.protocol.registration import PlayerMeta, RefereeMeta
from agent_league.referee import Referee
from agent_league.store import EventLog
from agent_league.store.events import MatchEnded
from agent_league.transport.http_client import HttpClient
from agent_league.transport.memory import Network

LEAGUE_URL = "http://practice.invalid/mcp"
"""Never looked up: who is in here is reached without a socket."""
TIME_TO_ANSWER = 5.0


class AgentAbsentError(LeagueError):
    """Nobody answers where the agent should be."""


@dataclass(frozen=True)
class Exercise:
    """What an agent is put through."""

    agent: str
    opponents: Sequence[str]
    """Strategies, by name or file."""
    matches: int = 100
    """How many against each."""
    game_type: str = "even_odd"
    seed: str | None = None
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True)
class Course:
    """What came of it: how each match ended, and everything that the agent was asked."""

    exercise: Exercise
    agent_id: str
    opponent_ids: Sequence[str]
    """In the order of the opponents."""
    results: Sequence[MatchEnded]
    exchanges: Sequence[Exchange]


async def practise(exercise: Exercise) -> Course:
    """Let the agent play, or raise `AgentAbsentError`."""
    outside = HttpClient()
    try:
        if not await outside.reaches(exercise.agent, TIME_TO_ANSWER):
            raise AgentAbsentError(f"nobody answers at {exercise.agent}")
        return await _Gym(exercise, outside).course()
    finally:
        await outside.close()


class _Gym:
    """A manager, a referee, the opponents, and an envoy for the agent, in one process."""

    def __init__(self, exercise: Exercise, outside: HttpClient) -> None:
        self._exercise = exercise
        self._net = Network()
        self._seed = exercise.seed or str(secrets.randbelow(10**6))
        self._manager = LeagueManager(self._settings(), self._net, EventLog())
        self._envoy = Envoy(
            "agent",
            self._net,
            LEAGUE_URL,
            meta=self._player_meta("The agent", "agent"),
            agent=(exercise.agent, outside),
            patience=exercise.patience,
        )
        self._opponents = [self._opponent(n, name) for n, name in enumerate(exercise.opponents)]

    async def course(self) -> Course:
        referee = self._referee()
        members: list[Member] = [referee, self._envoy, *self._opponents]
        everybody: list[Agent] = [self._manager, *members]
        await self._manager.open()
        self._net.host(LEAGUE_URL, self._manager.site())
        try:
            for number, member in enumerate(members):
                self._net.host(_url(_places(len(self._opponents))[number]), member.site())
                await member.register()
            await self._manager.run()
        finally:
            for agent in everybody:
                await agent.close()
        return Course(
            self._exercise,
            self._envoy.name,
            [opponent.name for opponent in self._opponents],
            list(self._manager.season.results.values()),
            self._envoy.exchanges,
        )

    def _settings(self) -> LeagueSettings:
        given = self._exercise.patience
        # Whoever waits for the envoy waits longer than the envoy does for the agent.
        patience = Patience(
            join=given.join + TIME_TO_ANSWER,
            move=given.move + TIME_TO_ANSWER,
            game_over=given.game_over + TIME_TO_ANSWER,
            generic=given.generic + TIME_TO_ANSWER,
        )
        return LeagueSettings(
            league_id="practice",
            seed=self._seed,
            game_type=self._exercise.game_type,
            legs=self._exercise.matches,
            awaited_players=1 + len(self._exercise.opponents),
            max_players=1 + len(self._exercise.opponents),
            patience=patience,
            retry=Retry(attempts=1),  # nothing is asked twice, so that every fault shows
        )

    def _player_meta(self, display_name: str, place: str) -> PlayerMeta:
        return PlayerMeta(
            display_name=display_name,
            version=VERSION,
            game_types=[self._exercise.game_type],
            contact_endpoint=_url(place),
        )

    def _opponent(self, number: int, strategy: str) -> Player:
        brain = load_brain(strategy)
        meta = self._player_meta(brain.name[:50], f"opponent-{number}")
        return Player(
            "opponent", self._net, LEAGUE_URL, meta=meta, brain=brain, seed=f"{self._seed}|{number}"
        )

    def _referee(self) -> Referee:
        meta = RefereeMeta(
            display_name="Referee",
            version=VERSION,
            game_types=[self._exercise.game_type],
            contact_endpoint=_url("referee"),
            max_concurrent_matches=10,
        )
        return Referee("referee", self._net, LEAGUE_URL, meta=meta)


def _places(opponents: int) -> list[str]:
    return ["referee", "agent", *(f"opponent-{number}" for number in range(opponents))]


def _url(place: str) -> str:
    return f"http://{place}.invalid/mcp"
