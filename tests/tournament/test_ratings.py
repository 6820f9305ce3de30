"""Ratings say what the results say, and how certain that is."""

from itertools import combinations
from math import log
from random import Random

import pytest

from agent_league.tournament.pairing import Played
from agent_league.tournament.ratings import expect_win, rate_online, rate_players
from agent_league.vocabulary import PlayerId

A, B, C, D = map(PlayerId, "ABCD")


def simulate(truth: dict[str, float], draws: float, matches: int, seed: int) -> list[Played]:
    rng = Random(seed)
    results = []
    for one, other in combinations(truth, 2):
        for _ in range(matches):
            wins = expect_win(truth, draws, one, other)
            losses = expect_win(truth, draws, other, one)
            drawn = rng.random()
            winner = one if drawn < wins else other if drawn < wins + losses else None
            results.append(
                Played(PlayerId(one), PlayerId(other), PlayerId(winner) if winner else None)
            )
    return results


def test_ratings_find_the_strengths_that_made_the_results() -> None:
    truth: dict[str, float] = {A: 1700.0, B: 1550.0, C: 1450.0, D: 1300.0}
    found = rate_players(truth, simulate(truth, 0.7, 2000, seed=1))
    assert [row.player for row in found.rows] == [A, B, C, D]
    for row in found.rows:
        assert row.value == pytest.approx(truth[row.player], abs=25)
    assert found.draws == pytest.approx(0.7, abs=0.1)
    assert found.uncertain == []


def test_the_interval_holds_the_truth_nineteen_times_in_twenty() -> None:
    truth: dict[str, float] = {A: 1600.0, B: 1500.0, C: 1400.0}
    inside = total = 0
    for seed in range(60):
        for row in rate_players(truth, simulate(truth, 0.5, 60, seed)).rows:
            assert row.reach
            total += 1
            inside += abs(row.value - truth[row.player]) <= row.reach
    assert inside / total > 0.85


def test_without_draws_two_players_are_as_strong_as_their_odds() -> None:
    results = [Played(A, B, A)] * 3000 + [Played(A, B, B)] * 1000
    first, second = rate_players([A, B], results).rows
    assert first.value - second.value == pytest.approx(400 * log(3) / log(10), rel=0.02)


def test_few_matches_leave_the_order_open() -> None:
    found = rate_players([A, B, C], [Played(A, B, A), Played(B, C, B), Played(A, C, None)])
    assert set(found.uncertain) == {(A, B), (B, C)}


def test_who_wins_all_is_not_infinitely_strong() -> None:
    found = rate_players([A, B], [Played(A, B, A)] * 10)
    assert found.rows[0].player == A
    assert found.rows[0].value < 2500


def test_nobody_has_played_yet() -> None:
    found = rate_players([A, B], [])
    assert {row.value for row in found.rows} == {1500}
    assert rate_players([], []).rows == []


def test_ratings_across_leagues_follow_the_results() -> None:
    rows = rate_online([Played(A, B, A), Played(A, C, A), Played(B, C, None)] * 20)
    assert rows[0].player == A
    assert rows[0].reach is not None
    (level,) = {round(row.value) for row in rows[1:]}
    assert level < rows[0].value
