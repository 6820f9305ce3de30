"""Who leads: the format decides, and the points stay points."""

from itertools import chain
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_league.protocol.results import MatchResult
from agent_league.tournament.formats import FORMATS
from agent_league.tournament.ladder import climb
from agent_league.tournament.pairing import Played
from agent_league.tournament.standings import Scoring, Table
from agent_league.vocabulary import PlayerId
from tournament.test_other_formats import league, play_out

RANKED = [name for name, plan in FORMATS.items() if plan.rank is not None]


def add_up(size: int, history: list[list[Played]]) -> Table:
    table = Table(league(size), Scoring())
    for match in chain(*history):
        table.add(MatchResult(players=(match.first, match.second), winner=match.winner))
    return table


def rank(name: str, size: int, history: list[list[Played]], number: int) -> list[PlayerId]:
    order = FORMATS[name].rank
    assert order is not None
    levels = order(league(size), history, number, add_up(size, history))
    return [row.player for level in levels for row in level]


@pytest.mark.parametrize("name", RANKED)
@settings(max_examples=30, deadline=None)
@given(size=st.integers(2, 12), number=st.integers(1, 3), data=st.data())
def test_everybody_has_one_row_with_the_points_of_the_table(
    name: str, size: int, number: int, data: st.DataObject
) -> None:
    history = play_out(name, size, number, seed=data.draw(st.integers(0, 99)))
    history = history[: data.draw(st.integers(0, len(history)))]
    order, table = FORMATS[name].rank, add_up(size, history)
    assert order is not None
    rows = [row for level in order(league(size), history, number, table) for row in level]
    assert sorted(rows, key=lambda row: row.player) == [table.row(one) for one in league(size)]


@settings(max_examples=50, deadline=None)
@given(size=st.integers(2, 20), legs=st.integers(1, 3), seed=st.integers(0, 999))
def test_who_wins_the_cup_is_first_and_the_other_finalist_second(
    size: int, legs: int, seed: int
) -> None:
    history = play_out("knockout", size, legs, seed)
    final = history[-legs:]
    one, other = final[0][0].first, final[0][0].second
    wins = [match.winner for match in chain(*final)]
    ranked = rank("knockout", size, history, legs)
    assert set(ranked[:2]) == {one, other}
    assert wins.count(ranked[0]) >= wins.count(ranked[1])


@settings(max_examples=30, deadline=None)
@given(size=st.integers(3, 20), seed=st.integers(0, 999))
def test_who_goes_out_later_stands_above_whatever_the_points(size: int, seed: int) -> None:
    history = play_out("knockout", size, 1, seed)
    last_round = {
        player: number
        for number, matches in enumerate(history)
        for match in matches
        for player in (match.first, match.second)
    }
    rounds = [last_round[player] for player in rank("knockout", size, history, 1)]
    assert rounds == sorted(rounds, reverse=True)


def test_the_cup_goes_to_its_winner_also_with_fewer_points() -> None:
    p1, p2, p3 = league(3)  # the first waits a round, draws its only match, and goes on
    history = [[Played(p2, p3, p2)], [Played(p1, p2, None)]]
    ranked = rank("knockout", 3, history, 1)
    table = add_up(3, history)
    assert ranked == [p1, p2, p3]
    assert table.row(p1).points < table.row(p2).points


@settings(max_examples=30, deadline=None)
@given(size=st.integers(2, 12), rounds=st.integers(1, 8), seed=st.integers(0, 999))
def test_the_table_of_a_ladder_is_the_ladder(size: int, rounds: int, seed: int) -> None:
    history = play_out("ladder", size, rounds, seed)
    assert rank("ladder", size, history, rounds) == climb(league(size), history)


def test_in_a_gauntlet_the_points_a_match_decide() -> None:
    p1, p2, p3, p4 = league(4)
    history = [[Played(p1, p2, p1)], [Played(p1, p3, p3)], [Played(p1, p4, None)]]
    assert rank("gauntlet", 4, history, 1) == [p3, p1, p4, p2]  # 3, 4/3, 1 and 0 a match


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in RANKED])
def test_elsewhere_the_points_decide(name: str) -> None:
    assert FORMATS[name].ranked_by == "points"


@given(st.integers(0, 999))
def test_a_bye_counts_as_a_win_and_never_head_to_head(seed: int) -> None:
    players, rng = league(3), Random(seed)
    table = Table(players, Scoring())
    sitting_out = rng.choice(players)
    table.add_bye(sitting_out)
    row = table.row(sitting_out)
    assert (row.played, row.wins, row.points) == (1, 1, 3)
    assert table.points_against(sitting_out, set(players)) == 0
    assert table.ranking()[0].player == sitting_out
