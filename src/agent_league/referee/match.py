"""One match, from the invitations to the verdict."""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from random import Random
from typing import Any

from agent_league.agent import Agent, together
from agent_league.game import AnyGame, RulesError
from agent_league.protocol.play import StartMatch
from agent_league.referee.seated import Seated
from agent_league.referee.transcript import Transcript
from agent_league.referee.verdict import Forfeit, Verdict, by_forfeit, by_rules
from agent_league.vocabulary import Seat


class Phase(StrEnum):
    """Where a match stands."""

    WAITING_FOR_PLAYERS = "WAITING_FOR_PLAYERS"
    COLLECTING_CHOICES = "COLLECTING_CHOICES"
    DRAWING_NUMBER = "DRAWING_NUMBER"
    FINISHED = "FINISHED"


class Match:
    """A match in progress; each step takes it from one phase to the next."""

    def __init__(self, order: StartMatch, game: AnyGame, referee: Agent) -> None:
        self.order = order
        self.transcript = Transcript(referee.clock)
        self.seated: Sequence[Seated] = [
            Seated(referee, order, seat, self.transcript) for seat in range(game.seats)
        ]
        self.reordered = asyncio.Event()
        """Set when the league orders a match again that it lost track of."""
        self.phase = Phase.WAITING_FOR_PLAYERS
        self.stepping = False
        """Whether somebody who steps it by hand waits for a step to end."""
        self.judged = False
        """Whether its verdict is being announced; nothing can change it any more."""
        self.forfeits: dict[Seat, Forfeit] = {}
        self._game = game
        self._rng = Random(order.seed)
        self._state: Any = game.start(order.options, self._rng)
        self._moves: dict[Seat, Any] = {}
        self._choices: dict[str, Any] = dict.fromkeys(seat.player_id for seat in self.seated)

    async def play(self) -> None:
        """Play to the end, or to the first forfeit."""
        await self.invite()
        while self.phase is not Phase.FINISHED:
            await self.collect()
            self.draw()

    async def invite(self) -> None:
        """Offer both seats at the same time."""
        answers = await together([seat.invited() for seat in self.seated])
        self._go_on(Phase.COLLECTING_CHOICES, dict(enumerate(answers)))

    async def collect(self) -> None:
        """Ask for the next moves.

        Seats that move together are asked together, so none can wait to see another's move.
        """
        seats = self._game.to_move(self._state)
        asked = [self.seated[seat].move(self._game, self._state) for seat in seats]
        answers = dict(zip(seats, await together(asked), strict=True))
        self._moves = {s: move for s, move in answers.items() if not isinstance(move, Forfeit)}
        self._choices.update({self.seated[s].player_id: m for s, m in self._moves.items()})
        self._go_on(Phase.DRAWING_NUMBER, answers)

    def draw(self) -> None:
        """Let the rules, and chance, do their part; nothing to do once a seat has forfeited."""
        if self.phase is Phase.FINISHED:
            return
        self._state = self._game.play(self._state, self._moves, self._rng)
        over = not self._game.to_move(self._state)
        self.phase = Phase.FINISHED if over else Phase.COLLECTING_CHOICES

    def verdict(self) -> Verdict:
        players = [seat.player_id for seat in self.seated]
        if self.forfeits:
            return by_forfeit(players, self.forfeits, self._choices)
        outcome = self._game.outcome(self._state)
        if outcome is None:
            raise RulesError("nobody is to move, yet the game has no outcome")
        return by_rules(players, outcome, self._choices, self._game.record(self._state))

    def _go_on(self, phase: Phase, answers: dict[Seat, Any]) -> None:
        found = {seat: said for seat, said in answers.items() if isinstance(said, Forfeit)}
        self.forfeits.update(found)
        self.phase = Phase.FINISHED if self.forfeits else phase
