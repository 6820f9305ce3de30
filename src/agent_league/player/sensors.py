"""What a player perceives: from messages to what its decision model understands."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from agent_league.protocol.fields import moment
from agent_league.protocol.play import GameMoveCall, GameOver, ParityCall
from agent_league.vocabulary import Json

PARITIES = ("even", "odd")


class Turn(NamedTuple):
    """A move that somebody waits for."""

    match_id: str
    opponent: str | None
    view: Json
    legal: Sequence[Json]
    deadline: datetime


class Played(NamedTuple):
    """A match that is over, seen from this player's side."""

    match_id: str
    opponent: str | None
    mine: Json
    theirs: Json
    won: bool | None
    """None for a draw."""


def perceive_turn(call: ParityCall | GameMoveCall) -> Turn:
    """Return the turn that *call* asks for."""
    opponent = call.context.opponent_id if call.context else None
    shown: tuple[Json, Sequence[Json]] = ({"choices": list(PARITIES)}, PARITIES)
    if isinstance(call, GameMoveCall):
        shown = (call.view, call.legal_moves)
    return Turn(call.match_id, opponent, *shown, moment(call.deadline))


def perceive_result(over: GameOver, me: str) -> Played:
    """Return what *over* tells the player *me* about its match."""
    choices = over.game_result.choices
    opponent = next((player for player in choices if player != me), None)
    winner = over.game_result.winner_player_id
    drawn = over.game_result.status == "DRAW"
    return Played(
        match_id=over.match_id,
        opponent=opponent,
        mine=choices.get(me),
        theirs=choices.get(opponent) if opponent else None,
        won=None if drawn else winner == me,
    )
