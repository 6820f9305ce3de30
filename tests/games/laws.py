"""The laws every game keeps, as functions of a game; who keeps them is for the tests to say."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from agent_league.game import (
    AnyGame,
    IllegalMoveError,
    OptionsError,
    count_turns,
    draw_picture,
    explain_rules,
    explain_view,
    find_restore,
)
from agent_league.picture import draw_svg, draw_text
from agent_league.vocabulary import Json, Seat

SEEDS = range(20)
LONGEST = 1000
JUNK: list[Json] = [
    *(None, True, False, -1, 0.5, 1e300, 2**70),
    *("", " ", "EVEN", "even ", "\0", "null"),
    *([], [0], ["even"], {}, {"move": "even"}, [[[]]]),
]

Step = tuple[Any, Mapping[Seat, Any]]


def playthrough(game: AnyGame, seed: int) -> Iterator[Step]:
    """Yield every state of a game played at random, with the moves made in it."""
    rng = Random(seed)
    state = game.start({}, rng)
    for _ in range(LONGEST):
        if not (seats := game.to_move(state)):
            break
        moves = {seat: rng.choice(game.legal(state, seat)) for seat in seats}
        yield state, moves
        state = game.play(state, moves, rng)
    yield state, {}


def _steps(game: AnyGame) -> Iterator[Step]:
    for seed in SEEDS:
        yield from playthrough(game, seed)


def _survives_json(value: Json) -> bool:
    return bool(json.loads(json.dumps(value, allow_nan=False)) == value)


def ends_with_an_outcome_and_not_before(game: AnyGame) -> None:
    for seed in SEEDS:
        *during, (final, _) = playthrough(game, seed)
        assert all(game.outcome(state) is None for state, _ in during)
        assert not game.to_move(final)
        assert game.outcome(final) is not None


def asks_no_more_often_than_it_says(game: AnyGame) -> None:
    for seed in SEEDS:
        *asked, _ = playthrough(game, seed)
        assert len(asked) <= game.turns


def names_a_winning_seat_and_a_reason(game: AnyGame) -> None:
    for state, _ in _steps(game):
        if outcome := game.outcome(state):
            assert outcome.winner in {None, *range(game.seats)}
            reason = outcome.reason.format(*(f"P0{seat}" for seat in range(game.seats)))
            assert reason
            assert not set("{}") & set(reason)


def replays_from_its_seed(game: AnyGame) -> None:
    for seed in SEEDS:
        assert list(playthrough(game, seed)) == list(playthrough(game, seed))


def leaves_its_states_as_they_are(game: AnyGame) -> None:
    for state, moves in _steps(game):
        before = deepcopy(state)
        if moves:
            game.play(state, moves, Random(0))
        assert state == before
        assert hash(state) == hash(before)


def shows_and_records_only_json(game: AnyGame) -> None:
    for state, _ in _steps(game):
        assert all(_survives_json(game.view(state, seat)) for seat in range(game.seats))
        assert _survives_json(game.record(state))


def offers_moves_to_those_who_are_to_move(game: AnyGame) -> None:
    for state, _ in _steps(game):
        for seat in range(game.seats):
            assert bool(game.legal(state, seat)) == (seat in game.to_move(state))


def reads_back_the_moves_it_offers(game: AnyGame) -> None:
    for state, _ in _steps(game):
        for seat in game.to_move(state):
            for move in game.legal(state, seat):
                assert game.read_move(json.loads(json.dumps(move))) == move


def refuses_what_is_no_move_by_the_one_exception(game: AnyGame) -> None:
    refused = 0
    for junk in JUNK:
        try:
            game.read_move(junk)
        except IllegalMoveError as error:
            refused += bool(str(error))
    assert refused


def refuses_an_option_it_does_not_know(game: AnyGame) -> None:
    with pytest.raises(OptionsError, match="no such option"):
        game.start({"no such option": 1}, Random(0))


def tells_its_rules_and_who_wins(game: AnyGame) -> None:
    assert re.search(r"\b(wins?|winner|draw)\b", explain_rules(game))


def shows_each_seat_all_that_it_needs(game: AnyGame) -> None:
    for state, moves in _steps(game):
        for seat in moves:
            shown = explain_view(game, state, seat)
            assert shown["answer_schema"] == {"enum": list(game.legal(state, seat))}
            assert shown["rules"]
            assert shown["picture"]
            assert len(json.dumps(shown)) < 5_000


def draws_what_it_shows(game: AnyGame) -> None:
    for state, moves in _steps(game):
        seen = [game.view(state, seat) for seat in moves] or [game.record(state)]
        for shown in seen:
            picture = draw_picture(game, json.loads(json.dumps(shown)))
            assert draw_text(picture).strip()
            root = ET.fromstring(draw_svg(picture))  # noqa: S314 - our own text
            assert root.tag.endswith("svg")


def restores_what_it_shows_whole(game: AnyGame) -> None:
    restore = find_restore(game)
    for state, moves in _steps(game) if restore else ():
        for seat in moves:
            assert restore
            assert restore(json.loads(json.dumps(game.view(state, seat)))) == state


def asks_as_often_as_its_options_say(game: AnyGame) -> None:
    assert count_turns(game, {}) == game.turns


LAWS: tuple[Callable[[AnyGame], None], ...] = (
    ends_with_an_outcome_and_not_before,
    asks_no_more_often_than_it_says,
    names_a_winning_seat_and_a_reason,
    replays_from_its_seed,
    leaves_its_states_as_they_are,
    shows_and_records_only_json,
    offers_moves_to_those_who_are_to_move,
    reads_back_the_moves_it_offers,
    refuses_what_is_no_move_by_the_one_exception,
    refuses_an_option_it_does_not_know,
    tells_its_rules_and_who_wins,
    shows_each_seat_all_that_it_needs,
    draws_what_it_shows,
    restores_what_it_shows_whole,
    asks_as_often_as_its_options_say,
)
