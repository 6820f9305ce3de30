"""Matches in process: the same games, moves and judgement as a referee's, without messages."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from agent_league.game import AnyGame, Outcome, RulesError
from agent_league.player.brain import Brain
from agent_league.player.decision import OpponentModel
from agent_league.protocol import LeagueError
from agent_league.referee.judging import check_move
from agent_league.strategy import FinishedMatch, Learner, Situation
from agent_league.vocabulary import Json, Seat


class LabMatch(NamedTuple):
    """How a match ended; *moves* are the last ones of each seat, as in a report."""

    outcome: Outcome
    moves: Mapping[Seat, Json]
    turns: int


@dataclass
class Contestant:
    """A strategy in the lab, with its memory of earlier matches against one opponent."""

    brain: Brain
    rng: Random
    memory: OpponentModel = field(default_factory=OpponentModel)
    fallbacks: int = 0
    """How often a random move replaced one that a model did not have."""
    learner: Learner | None = None
    """The strategy, if it learns."""

    def __post_init__(self) -> None:
        strategy = self.brain.strategy
        self.learner = strategy if isinstance(strategy, Learner) else None

    def get_choose(self) -> Callable[[Situation], Any]:
        """Return the function that chooses: the strategy itself, if we trust it."""
        return self.brain.strategy if self.brain.trusted else self._choose_carefully

    def _choose_carefully(self, situation: Situation) -> Json:
        """Return a move; where a model has none, it is a random one, as in a league.

        The view is a copy, as a message would bring it, so that no strategy can change the game.
        """
        view = msgspec.json.decode(msgspec.json.encode(situation.view))
        try:
            return _finish(self.brain.strategy(replace(situation, view=view)))
        except LeagueError:
            self.fallbacks += 1
            return situation.rng.choice(situation.legal)

    def learn(self, opponent: str, match: LabMatch, seat: Seat) -> None:
        """Remember a match that is over."""
        mine, theirs = match.moves.get(seat), match.moves.get(1 - seat)
        winner = match.outcome.winner
        won = None if winner is None else winner == seat
        played = FinishedMatch("lab", opponent, mine, theirs, won)
        self.memory.learn(played)
        if self.learner is not None:
            self.learner.learn(played)


@dataclass(frozen=True)
class Table:
    """A game with its options, and the two who play it."""

    game_type: str
    game: AnyGame
    options: Mapping[str, Json]

    def play(self, players: Sequence[Contestant], rng: Random) -> LabMatch:
        """Play one match to its end; whoever makes no legal move raises `NonsenseError`."""
        game = self.game
        state = game.start(self.options, rng)
        to_move, view, legal, play = game.to_move, game.view, game.legal, game.play
        known = [_list_known(self.game_type, players, seat) for seat in range(game.seats)]
        choose = [player.get_choose() for player in players]
        last: dict[Seat, Json] = {}
        turns = 0
        while seats := to_move(state):
            moves = {}
            for seat in seats:
                allowed = legal(state, seat)
                situation = Situation(view(state, seat), allowed, *known[seat])
                moves[seat] = check_move(game, allowed, choose[seat](situation))
            state = play(state, moves, rng)
            last.update(moves)
            turns += 1
        outcome = game.outcome(state)
        if outcome is None:
            raise RulesError("nobody is to move, yet the game has no outcome")
        return LabMatch(outcome, last, turns)

    def play_watched(self, players: Sequence[Contestant], rng: Random) -> tuple[LabMatch, bool]:
        """Play one match, and say whether it was certain: neither game nor strategies used chance."""
        sources = [rng, *(player.rng for player in players)]
        before = [one.getstate() for one in sources]
        match = self.play(players, rng)
        is_certain = all(one.getstate() == old for one, old in zip(sources, before, strict=True))
        return match, is_certain


def _list_known(
    game_type: str, players: Sequence[Contestant], seat: Seat
) -> tuple[Random, Sequence[Json], Sequence[Json], Sequence[Json], str, str]:
    """Return what stays the same in all turns of a match: all fields of a situation but the first two."""
    me, opponent = players[seat], players[1 - seat].brain.name
    memory = me.memory
    theirs = memory.by_opponent.get(opponent, ())
    return me.rng, memory.mine, theirs, memory.everyone, game_type, opponent


def _finish(chosen: Any) -> Json:
    """Return the move, also of a strategy that has to be waited for."""
    return _get_loop().run_until_complete(chosen) if inspect.isawaitable(chosen) else chosen


@lru_cache(maxsize=1)
def _get_loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()
