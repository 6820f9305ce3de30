"""Matches of many moves: every message fits, and the match can be proven."""

from random import Random
from typing import Any

import msgspec
import pytest

from agent_league.game import GAMES, explain_view
from agent_league.matrix_game import MatrixGame
from agent_league.store.events import MatchEnded
from league_box import Box, played

MESSAGE, ENVELOPE = 10 * 1024, 1200
ROUNDS = 400


def test_a_match_with_many_moves_is_reported_with_all_of_them() -> None:
    options = {"rounds": ROUNDS}
    box = Box(["random", "tit_for_tat"], game_type="prisoners_dilemma", options=options)
    for member in (*box.players, *box.referees):
        member.meta = msgspec.structs.replace(member.meta, game_types=["prisoners_dilemma"])
    played(box)
    (ended,) = box.happened(MatchEnded)
    assert len(ended.details["moves"]) == ROUNDS
    assert len(ended.details["rounds_played"][0]) == ROUNDS
    assert "draw_secret" in ended.details
    assert "packed" not in ended.details


def find_longest(game: MatrixGame) -> Any:
    """Return the state before the last of as many rounds as there can be, with the longest moves."""
    longest = max(game.moves, key=len)
    state = game.start({"rounds": game.most_rounds}, Random(0))
    pair = (longest, longest) if game.payoffs[longest, longest] in {(0, 0), (3, 3)} else None
    moves = [pair or (longest, other) for other in game.moves]
    for number in range(game.most_rounds - 1):
        one, other = moves[number % len(moves)]
        state = game.play(state, {0: one, 1: other}, Random(0))
    return state


@pytest.mark.parametrize("name", ["prisoners_dilemma", "rock_paper_scissors", "matching_pennies"])
def test_even_the_last_call_of_the_longest_match_fits_in_a_message(name: str) -> None:
    game = GAMES[name]
    state = find_longest(game)  # type: ignore[arg-type]  # it is a matrix game
    assert game.to_move(state)
    view = msgspec.json.encode(explain_view(game, state, 0))
    assert len(view) + ENVELOPE <= MESSAGE
