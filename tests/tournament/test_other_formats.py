"""Every format: from what was played to the next round."""

from collections import Counter
from itertools import chain
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_league.tournament.formats import FORMATS, gauntlet
from agent_league.tournament.knockout import knockout, rank_cup
from agent_league.tournament.ladder import climb, ladder
from agent_league.tournament.pairing import Pairing, Played
from agent_league.tournament.swiss import make_trf
from agent_league.vocabulary import PlayerId


def league(size: int) -> list[PlayerId]:
    return [PlayerId(f"P{number:02}") for number in range(1, size + 1)]


def play_out(name: str, size: int, number: int, seed: int = 0) -> list[list[Played]]:
    """Return all rounds of a tournament whose matches end by chance."""
    players, rng, history = league(size), Random(seed), list[list[Played]]()
    while pairings := FORMATS[name].pair(players, history, number):
        history.append([Played(a, b, rng.choice([a, b, None])) for a, b in pairings])
    return history


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20, deadline=None)
@given(size=st.integers(2, 12), number=st.integers(1, 3), seed=st.integers(0, 99))
def test_every_format_ends_when_it_says_and_nobody_plays_twice_in_a_round(
    name: str, size: int, number: int, seed: int
) -> None:
    history, plan = play_out(name, size, number, seed), FORMATS[name]
    if name != "swiss":  # which ends early where everybody would have to meet somebody again
        assert len(history) == plan.count_rounds(size, number)
        assert sum(map(len, history)) == plan.count_matches(size, number)
    assert 1 <= len(history) <= plan.count_rounds(size, number)
    for matches in history:
        playing = Counter(chain.from_iterable((one.first, one.second) for one in matches))
        assert set(playing.values()) == {1}
        assert set(playing) <= set(league(size))


@pytest.mark.parametrize("name", [name for name, plan in FORMATS.items() if plan.foreseeable])
def test_what_is_foreseeable_does_not_depend_on_results(name: str) -> None:
    one, other = play_out(name, 6, 2, seed=1), play_out(name, 6, 2, seed=2)
    assert [[m[:2] for m in r] for r in one] == [[m[:2] for m in r] for r in other]


def test_in_a_double_round_robin_all_meet_twice_with_seats_swapped() -> None:
    met = Counter((one.first, one.second) for one in chain(*play_out("double_round_robin", 5, 1)))
    assert set(met.values()) == {1}
    assert len(met) == 5 * 4


def test_in_a_cup_the_first_seeds_meet_last_and_who_loses_is_out() -> None:
    p1, p2, p3, p4, p5, *_ = players = league(5)
    first = knockout(players, [], 1)
    assert first == [Pairing(p4, p5)]  # the first three wait
    rounds = [[Played(p4, p5, p5)]]
    assert knockout(players, rounds, 1) == [Pairing(p1, p5), Pairing(p2, p3)]
    rounds.append([Played(p1, p5, None), Played(p2, p3, p3)])
    assert knockout(players, rounds, 1) == [Pairing(p1, p3)]  # level: the earlier one goes on
    rounds.append([Played(p1, p3, p3)])
    assert knockout(players, rounds, 1) == []


def test_a_tie_of_two_legs_is_decided_by_both() -> None:
    p1, p2 = players = league(2)
    rounds = [[Played(p1, p2, p2)]]
    assert knockout(players, rounds, 2) == [Pairing(p2, p1)]
    assert knockout(players, [*rounds, [Played(p2, p1, None)]], 2) == []


class CountedId(str):
    """An id that counts how often it is looked at."""

    __slots__ = ()
    looks = 0
    __eq__ = str.__eq__

    def __hash__(self) -> int:
        CountedId.looks += 1
        return str.__hash__(self)


def test_a_cup_of_twice_the_players_is_about_twice_the_work() -> None:
    looks = []
    for size in (256, 512):
        players = [PlayerId(CountedId(name)) for name in league(size)]
        first = [Played(one, other, one) for one, other in knockout(players, [], 1)]
        CountedId.looks = 0
        knockout(players, [first], 1)
        looks.append(CountedId.looks)
    assert 0 < looks[1] < 3 * looks[0]


def test_in_a_gauntlet_one_meets_all() -> None:
    p1, p2, p3 = players = league(3)
    assert gauntlet(players, [], 2) == [Pairing(p1, p2)]
    assert gauntlet(players, [()] * 3, 2) == [Pairing(p3, p1)]


def test_on_a_ladder_who_wins_stands_above() -> None:
    p1, p2, p3, p4 = players = league(4)
    assert ladder(players, [], 8) == [Pairing(p1, p2), Pairing(p3, p4)]
    rounds = [[Played(p1, p2, p2), Played(p3, p4, p3)]]
    assert ladder(players, rounds, 8) == [Pairing(p1, p3)]  # now it is P02, P01, P03, P04


def test_who_plays_on_has_won_a_tie_even_if_its_result_is_voided_later() -> None:
    p1, p2, p3, p4 = players = league(4)
    rounds = [
        [Played(p1, p4, p4, counts=False), Played(p2, p3, p2)],
        [Played(p4, p2, p4)],
    ]
    assert knockout(players, rounds, 1) == []
    assert rank_cup(players, rounds, 1) == [[p4], [p2], [p1, p3]]


def test_a_match_that_does_not_count_moves_nobody_on_a_ladder() -> None:
    p1, p2 = players = league(2)
    assert climb(players, [[Played(p1, p2, p2, counts=False)]]) == [p1, p2]
    assert climb(players, [[Played(p1, p2, p2)]]) == [p2, p1]


def check_swiss(size: int, rounds: int) -> None:
    """Right by the library's own check of a tournament: its numbers, points and opponents."""
    history = play_out("swiss", size, rounds)
    met = Counter(frozenset((one.first, one.second)) for one in chain(*history))
    assert len(history) == rounds
    assert len(met) == rounds * (size // 2)
    assert set(met.values()) == {1}
    make_trf(league(size), history, rounds).validate_contents()


@pytest.mark.parametrize("size", [30, 31])
def test_swiss_pairs_nobody_twice(size: int) -> None:
    check_swiss(size, 8)


def test_in_a_swiss_a_match_that_does_not_count_is_no_bye() -> None:
    p1, p2, p3, p4, p5 = players = league(5)
    rounds = [[Played(p1, p3, p1, counts=False), Played(p2, p4, None), Played(p1, p3, p3)]]
    trf = make_trf(players, rounds, 3)
    trf.validate_contents()
    assert [one.points_times_ten for one in trf.player_sections] == [0, 5, 10, 5, 10]
    voided = [[Played(p1, p3, p1, counts=False), Played(p2, p4, None)]]
    trf = make_trf(players, voided, 3)
    trf.validate_contents()
    assert [one.points_times_ten for one in trf.player_sections] == [0, 5, 0, 5, 10]
    playing = {player for pair in FORMATS["swiss"].pair(players, rounds, 3) for player in pair}
    assert p5 in playing  # nobody sits out twice


def test_swiss_lets_those_with_as_many_points_meet() -> None:
    players, history = league(8), list[list[Played]]()
    for _ in range(3):  # the earlier one always wins
        pairs = FORMATS["swiss"].pair(players, history, 3)
        history.append([Played(a, b, min(a, b)) for a, b in pairs])
    points: Counter[str] = Counter()
    for matches in history:
        gaps = [abs(points[one.first] - points[one.second]) for one in matches]
        assert max(gaps) <= 1
        points.update(one.winner for one in matches if one.winner)
    assert points["P01"] == 3
