from collections import Counter
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.tournament.formats import (
    FORMATS,
    round_robin,
    total_matches,
    total_rounds,
)
from agent_league.tournament.pairing import Pairing
from agent_league.vocabulary import PlayerId

sizes = st.integers(2, 40)
legs = st.integers(1, 4)


def league(size: int) -> list[PlayerId]:
    return [PlayerId(f"P{number:02}") for number in range(1, size + 1)]


def season(size: int, legs: int = 1) -> list[list[Pairing]]:
    rounds: list[list[Pairing]] = []
    while pairings := round_robin(league(size), len(rounds), legs):
        rounds.append(pairings)
    return rounds


def matches(size: int, legs: int = 1) -> list[Pairing]:
    return list(chain.from_iterable(season(size, legs)))


@given(size=sizes, legs=legs)
def test_everyone_meets_everyone_exactly_once_in_each_leg(size: int, legs: int) -> None:
    met = Counter(frozenset(pairing) for pairing in matches(size, legs))
    assert met == dict.fromkeys(map(frozenset, combinations(league(size), 2)), legs)


@given(size=sizes, legs=legs)
def test_nobody_plays_twice_in_a_round(size: int, legs: int) -> None:
    for pairings in season(size, legs):
        assert len(set(chain.from_iterable(pairings))) == 2 * len(pairings)


@given(size=sizes, legs=legs)
def test_of_an_odd_number_each_sits_out_once_a_leg_and_of_an_even_number_none(
    size: int, legs: int
) -> None:
    idle = Counter(
        player
        for pairings in season(size, legs)
        for player in set(league(size)) - set(chain.from_iterable(pairings))
    )
    assert idle == (dict.fromkeys(league(size), legs) if size % 2 else {})


@given(size=sizes)
def test_everybody_sits_first_as_often_as_second_give_or_take_one(size: int) -> None:
    first, second = (Counter(seat) for seat in zip(*matches(size), strict=True))
    assert all(abs(first[player] - second[player]) <= 1 - size % 2 for player in league(size))


@given(size=sizes)
def test_nobody_takes_the_same_seat_three_times_running(size: int) -> None:
    for player in league(size):
        seats = [pairing.index(player) for pairing in matches(size) if player in pairing]
        assert all(len(set(three)) == 2 for three in zip(seats, seats[1:], seats[2:], strict=False))


@given(size=sizes)
def test_the_second_leg_repeats_the_first_with_the_seats_swapped(size: int) -> None:
    rounds = season(size, legs=2)
    half = len(rounds) // 2
    assert rounds[:half] == season(size)
    assert rounds[half:] == [[Pairing(b, a) for a, b in pairings] for pairings in rounds[:half]]


@given(size=st.integers(0, 40), legs=legs)
def test_the_totals_are_what_is_played(size: int, legs: int) -> None:
    assert total_rounds(size, legs) == len(season(size, legs))
    assert total_matches(size, legs) == len(matches(size, legs))


@pytest.mark.parametrize("size", [0, 1])
def test_a_match_takes_two(size: int) -> None:
    assert season(size) == []


@pytest.mark.parametrize("played", [3, 4, 100])
def test_after_the_last_round_there_is_none(played: int) -> None:
    assert round_robin(league(4), played) == []


def test_four_players_meet_in_this_order() -> None:
    p1, p2, p3, p4 = league(4)
    assert season(4) == [[(p1, p2), (p3, p4)], [(p3, p1), (p4, p2)], [(p1, p4), (p2, p3)]]


def test_a_round_does_not_depend_on_having_asked_for_the_one_before() -> None:
    assert round_robin(league(6), 3) == season(6)[3]


def test_the_catalogue_of_formats_is_read_only() -> None:
    assert not hasattr(FORMATS, "__setitem__")
