"""Matches in process: the same games, moves and judgement as a referee's, without messages."""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from agent_league.chance import make_rng
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
    is_certain: bool
    """Whether nobody used chance, neither the game nor a strategy."""


@dataclass
class Contestant:
    """A strategy in the lab, with its memory of earlier matches against one opponent."""

    brain: Brain
    rng: Random
    memory: OpponentModel = field(default_factory=OpponentModel)
    fallbacks: int = 0
    """How often a random move replaced one that a model did not have."""

    def choose(self, situation: Situation) -> Json:
        """Return a move; where a model has none, it is a random one, as in a league."""
        if self.brain.trusted:
            return self.brain.strategy(situation)
        try:
            return _finish(self.brain.strategy(situation))
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
        if isinstance(self.brain.strategy, Learner):
            self.brain.strategy.learn(played)


@dataclass(frozen=True)
class Table:
    """A game with its options, and the two who play it."""

    game_type: str
    game: AnyGame
    options: Mapping[str, Json]

    def play(self, players: Sequence[Contestant], seed: str) -> LabMatch:
        """Play one match to its end; whoever makes no legal move raises `NonsenseError`."""
        game, rng = self.game, make_rng(seed)
        sources = (rng, *(player.rng for player in players))
        untouched = [one.getstate() for one in sources]
        state = game.start(self.options, rng)
        to_move, view, legal, play = game.to_move, game.view, game.legal, game.play
        known = [_make_situation(self.game_type, players, seat) for seat in range(game.seats)]
        last: dict[Seat, Json] = {}
        turns = 0
        while seats := to_move(state):
            moves = {}
            for seat in seats:
                allowed = legal(state, seat)
                chosen = players[seat].choose(Situation(view(state, seat), allowed, *known[seat]))
                moves[seat] = check_move(game, allowed, chosen)
            state = play(state, moves, rng)
            last.update(moves)
            turns += 1
        outcome = game.outcome(state)
        if outcome is None:
            raise RulesError("nobody is to move, yet the game has no outcome")
        is_certain = all(
            one.getstate() == before for one, before in zip(sources, untouched, strict=True)
        )
        return LabMatch(outcome, last, turns, is_certain)


def _make_situation(
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
