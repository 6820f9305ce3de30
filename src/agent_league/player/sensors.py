"""The sensors of a player: read from messages what its decision model needs."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from agent_league.protocol.play import GameMoveCall, GameOver, ParityCall
from agent_league.strategy import FinishedMatch
from agent_league.vocabulary import Json

MoveCall: TypeAlias = ParityCall | GameMoveCall
PARITIES = ("even", "odd")


class Turn(Struct, frozen=True):
    """A move that a referee waits for."""

    match_id: str
    opponent: str | None
    view: Json
    legal: Sequence[Json]
    game: str | None = None


def perceive_turn(call: MoveCall) -> Turn:
    """Return the turn that *call* asks for."""
    opponent = call.context.opponent_id if call.context else None
    view: Json = {"choices": list(PARITIES)}
    legal: Sequence[Json] = PARITIES
    if isinstance(call, GameMoveCall):
        view, legal = call.view, call.legal_moves
    return Turn(call.match_id, opponent, view, legal, call.game_type)


def perceive_result(notice: GameOver, me: str) -> FinishedMatch:
    """Return the match that *notice* is about, from the side of the player *me*."""
    result, opponent = notice.game_result, None
    for player in result.choices:
        if player != me:
            opponent = player
            break
    # Named fields would take two thirds longer.
    return FinishedMatch(
        notice.match_id,
        opponent,
        result.choices.get(me),
        result.choices.get(opponent) if opponent else None,
        None if result.status == "DRAW" else result.winner_player_id == me,
    )
