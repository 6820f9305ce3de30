from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.game import IllegalMoveError, OptionsError, Outcome
from agent_league.games.even_odd import PARITIES, EvenOdd, Parity, State, game
from agent_league.vocabulary import Json
from chance import margin

EVEN, ODD = PARITIES


@pytest.mark.parametrize(
    ("calls", "drawn", "outcome"),
    [
        ((EVEN, ODD), 8, Outcome(0, "{0} chose even, number was 8 (even)")),
        ((EVEN, ODD), 3, Outcome(1, "{1} chose odd, number was 3 (odd)")),
        ((ODD, EVEN), 3, Outcome(0, "{0} chose odd, number was 3 (odd)")),
        ((ODD, EVEN), 8, Outcome(1, "{1} chose even, number was 8 (even)")),
        ((ODD, ODD), 4, Outcome(None, "Both chose odd, number was 4 (even) - both incorrect")),
        ((EVEN, EVEN), 7, Outcome(None, "Both chose even, number was 7 (odd) - both incorrect")),
        ((EVEN, EVEN), 4, Outcome(None, "Both chose even, number was 4 (even) - both correct")),
        ((ODD, ODD), 7, Outcome(None, "Both chose odd, number was 7 (odd) - both correct")),
    ],
)
def test_the_only_right_call_wins_and_equal_calls_draw(
    calls: tuple[Parity, Parity], drawn: int, outcome: Outcome
) -> None:
    assert game.outcome(State(calls=calls, drawn=drawn)) == outcome


@pytest.mark.parametrize(("drawn", "parity"), [(8, "even"), (3, "odd"), (0, "even"), (-1, "odd")])
def test_the_record_holds_the_number_and_its_parity(drawn: int, parity: str) -> None:
    state = State(calls=(EVEN, ODD), drawn=drawn)
    assert game.record(state) == {"drawn_number": drawn, "number_parity": parity}


def test_before_the_draw_there_is_nothing_to_record() -> None:
    assert game.record(State()) == {"drawn_number": None, "number_parity": None}


def test_both_move_at_once_and_see_no_call() -> None:
    state = game.start({}, Random(0))
    assert game.to_move(state) == (0, 1)
    assert game.view(state, 0) == game.view(state, 1)
    assert game.view(state, 0) == {"choices": ["even", "odd"]}


@given(
    bounds=st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(0, 50)),
    seed=st.integers(),
)
def test_the_number_is_drawn_within_the_bounds(bounds: tuple[int, int], seed: int) -> None:
    low = min(bounds[0], 2**31 - 102)
    high = low + 2 * bounds[1] + 1
    rng = Random(seed)
    ended = game.play(game.start({"low": low, "high": high}, rng), {0: EVEN, 1: ODD}, rng)
    assert ended.drawn in range(low, high + 1)


@pytest.mark.parametrize(("low", "high"), [(1, 10), (0, 99)])
def test_every_number_is_drawn_and_no_parity_is_favoured(low: int, high: int) -> None:
    rng = Random(1)
    start = game.start({"low": low, "high": high}, rng)
    drawn = [game.record(game.play(start, {0: EVEN, 1: ODD}, rng)) for _ in range(4000)]
    assert {record["drawn_number"] for record in drawn} == set(range(low, high + 1))
    even = sum(record["number_parity"] == "even" for record in drawn)
    assert even / 4000 == pytest.approx(0.5, abs=margin(4000))


def test_the_default_bounds_are_1_and_10() -> None:
    assert game.start({}, Random(0)) == game.start({"low": 1, "high": 10}, Random(0))
    assert game.start({"high": 4}, Random(0)) == State(1, 4)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"low": "1"}, "'low': expected a 32-bit integer, got '1'"),
        ({"low": None}, "'low': expected a 32-bit integer, got None"),
        ({"low": True}, "'low': expected a 32-bit integer, got True"),
        ({"high": 10.0}, "'high': expected a 32-bit integer, got 10.0"),
        ({"high": 2**31}, "'high': expected a 32-bit integer, got 2147483648"),
        ({"low": 11}, "'low': expected at most 'high' (10), got 11"),
        ({"high": 9}, "'high': expected as many even as odd numbers from 'low' (1), got 9"),
        ({"low": 0}, "'high': expected as many even as odd numbers from 'low' (0), got 10"),
        ({"max": 9}, "unknown option 'max': expected 'low' or 'high'"),
    ],
)
def test_an_unfair_or_unclear_range_is_refused(options: Mapping[str, Json], complaint: str) -> None:
    with pytest.raises(OptionsError) as refusal:
        game.start(options, Random(0))
    assert str(refusal.value) == complaint


@pytest.mark.parametrize("raw", ["Even", "EVEN", " odd", "evenodd", "", 0, 1, None, ["even"]])
def test_only_the_two_words_are_moves(raw: Json) -> None:
    with pytest.raises(IllegalMoveError, match="expected 'even' or 'odd', got"):
        game.read_move(raw)


@pytest.mark.parametrize(
    ("choices", "drawn", "winner"),
    [(("even", "odd"), 8, 0), (("even", "odd"), 3, 1), (("odd", "odd"), 3, None)],
)
def test_the_outcome_follows_from_choices_and_number(
    choices: tuple[str, str], drawn: int, winner: int | None
) -> None:
    outcome = EvenOdd().judge(choices, {"drawn_number": drawn})
    assert outcome is not None
    assert outcome.winner == winner


@pytest.mark.parametrize(
    ("choices", "drawn"),
    [(("even", None), 8), (("even", "Odd"), 8), (("even", "odd"), None), (("even", "odd"), True)],
)
def test_nothing_follows_from_half_a_record(choices: tuple[Json, Json], drawn: Json) -> None:
    assert EvenOdd().judge(choices, {"drawn_number": drawn}) is None
