"""One match, from the invitations to the result."""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec.structs import replace

from agent_league.agent import Agent
from agent_league.chance import Draws
from agent_league.futures import wait_together
from agent_league.game import AnyGame, RulesError
from agent_league.protocol.packing import pack_details
from agent_league.protocol.play import StartMatch
from agent_league.protocol.results import MatchResult, Termination
from agent_league.referee.judging import judge_forfeits, judge_game
from agent_league.referee.seated_player import SeatedPlayer
from agent_league.referee.transcript import Transcript
from agent_league.vocabulary import Json, PlayerId, Seat

_SHOWN = ("drawn_number", "choices", "reason", "draw_secret", "referee_lag_ms")
"""The details that stand in a report for everybody to read, however long the match was."""


class Phase(StrEnum):
    """The state of a match."""

    WAITING_FOR_PLAYERS = "WAITING_FOR_PLAYERS"
    COLLECTING_CHOICES = "COLLECTING_CHOICES"
    DRAWING_NUMBER = "DRAWING_NUMBER"
    FINISHED = "FINISHED"


WAITING_FOR_PLAYERS, COLLECTING_CHOICES, DRAWING_NUMBER, FINISHED = Phase
"""By themselves: in Python 3.11, to look one up in its class takes as long as to call a function."""


class Match:
    """A match in progress; each step takes it from one phase to the next."""

    def __init__(self, order: StartMatch, game: AnyGame, referee: Agent) -> None:
        self.order = order
        self.transcript = Transcript(referee.clock)
        self.seated_players: Sequence[SeatedPlayer] = [
            SeatedPlayer(referee, order, seat, self.transcript) for seat in range(game.seats)
        ]
        self._reordered: asyncio.Event | None = None
        self.phase = WAITING_FOR_PLAYERS
        self.task: asyncio.Task[Any] | None = None
        """Plays the match, or its first step if the others are taken by hand."""
        self.stepping = False
        """Whether a step that somebody started by hand is still running."""
        self.is_judged = False
        """Whether its result is being announced and cannot change any more."""
        self.forfeits: dict[Seat, Termination] = {}
        self._game = game
        self._rng = Draws(order.seed)
        self._state: Any = game.start(order.options, self._rng)
        self._moves: dict[Seat, Any] = {}
        self._choices: dict[str, Any] = dict.fromkeys(one.player_id for one in self.seated_players)
        self._turns: list[dict[str, Any]] = []
        """The moves of each turn, from which the game can be played again."""

    def is_ordered_by(self, order: StartMatch) -> bool:
        """Whether *order* means this match: the same game, players and endpoints."""
        return _describe_participants(order) == _describe_participants(self.order)

    @property
    def reordered(self) -> asyncio.Event:
        """Set when the league orders a match again that it lost track of."""
        if self._reordered is None:  # hardly ever needed, and slow to make
            self._reordered = asyncio.Event()
        return self._reordered

    def forget_reorder(self) -> None:
        if self._reordered is not None:
            self._reordered.clear()

    async def play(self) -> None:
        """Play to the end, or to the first forfeit."""
        await self.invite(asks_at_once=True)
        while self.phase is not FINISHED:
            await self.collect()
            self.draw()

    async def invite(self, *, asks_at_once: bool = False) -> None:
        """Offer both seats at the same time.

        With *asks_at_once*, players that take batches are asked for their first moves with it.
        """
        game, state = self._game, self._state
        movers = game.to_move(state) if asks_at_once else ()
        invitations = [
            player.invite(player.make_question(game, state) if seat in movers else None)
            for seat, player in enumerate(self.seated_players)
        ]
        answers = await wait_together(invitations)
        self._advance(COLLECTING_CHOICES, dict(enumerate(answers)))

    async def collect(self) -> None:
        """Ask for the next moves.

        Seats that move together are asked together, so none can wait to see another's move.
        """
        seats = self._game.to_move(self._state)
        calls = [self.seated_players[seat].move(self._game, self._state) for seat in seats]
        answers = dict(zip(seats, await wait_together(calls), strict=True))
        self._moves = {s: move for s, move in answers.items() if not isinstance(move, Termination)}
        turn = {self.seated_players[s].player_id: move for s, move in self._moves.items()}
        self._turns.append(turn)
        self._choices.update(turn)
        self._advance(DRAWING_NUMBER, answers)

    def draw(self) -> None:
        """Apply the moves by the rules, and by chance; do nothing once a seat has forfeited."""
        if self.phase is FINISHED:
            return
        self._state = self._game.play(self._state, self._moves, self._rng)
        over = not self._game.to_move(self._state)
        self.phase = FINISHED if over else COLLECTING_CHOICES

    def result(self) -> MatchResult:
        """Return how the match ended; its details have what is needed to play it again.

        They also say how late we were, if that extended a deadline.
        """
        result = self._judge()
        details: dict[str, Json] = {**result.details, "draw_secret": self.order.seed}
        if lag_ms := sum(seat.line.lag_ms for seat in self.seated_players):
            details["referee_lag_ms"] = lag_ms
        if self._game.turns > 1 or len(self._turns) > 1:  # else the choices are all there is
            details = pack_details({**details, "moves": self._turns}, _SHOWN) or {
                name: details[name]
                for name in _SHOWN
                if name in details and name != "draw_secret"  # which alone would prove nothing
            }
        return replace(result, details=details)

    def _judge(self) -> MatchResult:
        first, second = (PlayerId(seat.player_id) for seat in self.seated_players)
        players = (first, second)
        if self.forfeits:
            forfeits = {players[seat]: self.forfeits[seat] for seat in sorted(self.forfeits)}
            return judge_forfeits(players, forfeits, self._choices)
        outcome = self._game.outcome(self._state)
        if outcome is None:
            raise RulesError("nobody is to move, yet the game has no outcome")
        return judge_game(players, outcome, self._choices, self._game.record(self._state))

    def _advance(self, phase: Phase, answers: dict[Seat, Any]) -> None:
        self.forfeits = {s: why for s, why in answers.items() if isinstance(why, Termination)}
        self.phase = FINISHED if self.forfeits else phase


def _describe_participants(order: StartMatch) -> Sequence[object]:
    return order.game_type, *((player.player_id, player.endpoint) for player in order.players)
