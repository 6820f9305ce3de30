"""Rates with their intervals, and the ceilings of Even/Odd, held against chance itself."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.practice.criteria import PREDICTABLE, UNPREDICTABLE, ceiling, rate
from chance import margin


@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (60, 100, 0.5020, 0.6906),
        (100, 100, 0.9630, 1.0),
    ],
)
def test_the_interval_is_that_of_wilson(hits: int, tries: int, low: float, high: float) -> None:
    found = rate(hits, tries)
    assert found.value == hits / tries
    assert found.low == pytest.approx(low, abs=1e-4)
    assert found.high == pytest.approx(high, abs=1e-4)


def test_nothing_is_known_without_a_try() -> None:
    assert rate(0, 0) == (0.0, 0.0, 1.0)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_share_lies_in_its_interval_and_the_interval_between_0_and_1(
    pair: tuple[int, int],
) -> None:
    found = rate(*pair)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    mirrored = rate(pair[1] - pair[0], pair[1])
    assert found.low == pytest.approx(1 - mirrored.high)


def test_the_interval_holds_the_truth_19_times_out_of_20() -> None:
    rng = Random(7)
    held = 0
    for _ in range(1000):
        found = rate(sum(rng.random() < 0.25 for _ in range(100)), 100)
        held += found.low <= 0.25 <= found.high
    # Wilson's interval is an approximation: for 100 tries at a quarter it holds 95 % to within 1 %.
    assert held / 1000 == pytest.approx(0.95, abs=0.01 + margin(1000))


def points(mine: str, theirs: str, rng: Random) -> int:
    parity = ("even", "odd")[rng.randint(1, 10) % 2]
    if mine == theirs:
        return 1
    return 3 if mine == parity else 0


@pytest.mark.parametrize(("predicted", "best"), [(True, PREDICTABLE), (False, UNPREDICTABLE)])
def test_the_ceilings_are_what_the_rules_give_to_the_best(
    predicted: bool, best: tuple[float, float]
) -> None:
    rng, scored = Random(7), []
    for _ in range(10_000):
        theirs = rng.choice(("even", "odd"))
        mine = ("odd" if theirs == "even" else "even") if predicted else "even"
        scored.append(points(mine, theirs, rng))
    assert scored.count(3) / len(scored) == pytest.approx(best[0], abs=margin(10_000))
    assert sum(scored) / len(scored) == pytest.approx(best[1], abs=margin(10_000, span=3))


def test_only_even_odd_has_a_ceiling_and_random_the_lower_one() -> None:
    assert ceiling("even_odd", "random") is UNPREDICTABLE
    assert ceiling("even_odd", "mirror") is PREDICTABLE
    assert ceiling("tic_tac_toe", "random") is None
