"""A finished match, played again by the rules alone: from its moves and its secret."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from agent_league.chance import Draws
from agent_league.game import AnyGame, IllegalMoveError, OptionsError, Outcome
from agent_league.vocabulary import Json, Seat


class ReplayError(ValueError):
    """The match cannot have been played like this; the text says why."""


def play_again(
    game: AnyGame, options: Mapping[str, Json], secret: str, turns: Sequence[Mapping[Seat, Json]]
) -> tuple[Outcome, dict[str, Json]]:
    """Return how a match with these moves ends, and its record, or raise `ReplayError`."""
    draws = Draws(secret)
    try:
        state = game.start(options, draws)
        for number, turn in enumerate(turns, 1):
            state = game.play(state, _read_moves(game, state, turn, number), draws)
    except (IllegalMoveError, OptionsError) as error:
        raise ReplayError(str(error)) from error
    outcome = game.outcome(state)
    if outcome is None:
        raise ReplayError(f"it was not over after {len(turns)} turns")
    return outcome, game.record(state)


def _read_moves(
    game: AnyGame, state: Any, turn: Mapping[Seat, Json], number: int
) -> dict[Seat, Any]:
    """Return the moves of a turn, each of which must be legal."""
    seats = game.to_move(state)
    if set(seats) != turn.keys():
        raise ReplayError(f"in turn {number} others moved than those whose turn it was")
    moves: dict[Seat, Any] = {}
    for seat in seats:
        moves[seat] = move = game.read_move(turn[seat])
        if move not in game.legal(state, seat):
            raise ReplayError(f"in turn {number} the move {turn[seat]!r:.40} was not legal")
    return moves


def list_turns(details: Mapping[str, Json], players: Sequence[str]) -> list[dict[Seat, Json]]:
    """Return the moves of each turn by seat, from the details of a result, or raise `ReplayError`.

    A game of one turn has only its choices.
    """
    seats = {player: seat for seat, player in enumerate(players)}
    turns = details.get("moves")
    if turns is None:
        turns = [details.get("choices")]
    if not isinstance(turns, list):
        raise ReplayError("its moves are not told")
    return [_seat_moves(turn, seats) for turn in turns]


def _seat_moves(turn: Json, seats: Mapping[str, Seat]) -> dict[Seat, Json]:
    if not isinstance(turn, dict):
        raise ReplayError("its moves are not told")
    try:
        return {seats[player]: move for player, move in turn.items()}
    except KeyError:
        raise ReplayError("somebody moved who did not play") from None


def is_same_json(one: Json, other: Json) -> bool:
    """Whether two values are the same as JSON, where a list and a tuple are the same."""
    return bool(msgspec.json.encode(one) == msgspec.json.encode(other))
