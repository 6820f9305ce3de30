from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.protocol.results import MatchResult, Termination
from agent_league.tournament.standings import TIEBREAKERS, Scoring, Standing, Table
from agent_league.vocabulary import PlayerId

A, B, C, D, E = (PlayerId(name) for name in "ABCDE")
PLAYERS = (A, B, C, D, E)
STANDARD = Scoring()


def ended(
    first: PlayerId, second: PlayerId, winner: PlayerId | None, losers: Iterable[PlayerId] = ()
) -> MatchResult:
    forfeits = dict.fromkeys(losers, Termination.TIMEOUT)
    return MatchResult(players=(first, second), winner=winner, forfeits=forfeits)


def won(winner: PlayerId, loser: PlayerId) -> MatchResult:
    return MatchResult(players=(winner, loser), winner=winner)


def drew(first: PlayerId, second: PlayerId) -> MatchResult:
    return MatchResult(players=(first, second), winner=None)


def forfeited(first: PlayerId, second: PlayerId, *losers: PlayerId) -> MatchResult:
    left = {first, second} - set(losers)
    return ended(first, second, left.pop() if left else None, losers)


def table(results: Iterable[MatchResult], scoring: Scoring = STANDARD) -> Table:
    made = Table(PLAYERS, scoring)
    for result in results:
        made.add(result)
    return made


def order(results: Iterable[MatchResult], *tiebreakers: str) -> str:
    scoring = Scoring(tiebreakers=tiebreakers)
    return "".join(row.player for row in table(results, scoring).ranking())


@st.composite
def one_result(draw: st.DrawFn) -> MatchResult:
    first, second = draw(st.permutations(PLAYERS))[:2]
    losers = draw(st.sets(st.sampled_from([first, second])))
    if losers:
        return forfeited(first, second, *losers)
    return ended(first, second, draw(st.sampled_from([first, second, None])))


results = st.lists(one_result(), max_size=25)
scorings = st.builds(
    Scoring,
    win=st.integers(2, 4),
    technical_loss=st.integers(-1, 0),
    tiebreakers=st.permutations(sorted(TIEBREAKERS)).map(tuple),
)


def test_a_win_is_worth_3_a_draw_1_and_a_loss_0() -> None:
    played = table([won(A, B), drew(A, C)])
    assert played.row(A) == Standing(A, played=2, wins=1, draws=1, points=4)
    assert played.row(B) == Standing(B, played=1, losses=1)
    assert played.row(C) == Standing(C, played=1, draws=1, points=1)
    assert played.row(D) == Standing(D)


def test_a_technical_loss_is_a_loss_and_the_opponent_wins() -> None:
    played = table([forfeited(A, B, A)])
    assert played.row(A) == Standing(A, played=1, losses=1, technical_losses=1)
    assert played.row(B) == Standing(B, played=1, wins=1, points=3)


def test_when_both_forfeit_both_lose_and_nobody_draws() -> None:
    played = table([forfeited(A, B, A, B)])
    assert played.row(A) == Standing(A, played=1, losses=1, technical_losses=1)
    assert played.row(B) == Standing(B, played=1, losses=1, technical_losses=1)


def test_the_scoring_is_a_matter_of_configuration() -> None:
    scoring = Scoring(win=2, draw=1, loss=0, technical_loss=-1)
    played = table([won(A, B), drew(A, C), forfeited(A, D, A)], scoring)
    assert [played.row(player).points for player in (A, B, C, D)] == [2, 0, 1, 2]


@given(results=results, scoring=scorings, seed=st.integers(0, 999))
def test_the_order_in_which_results_arrive_does_not_matter(
    results: list[MatchResult], scoring: Scoring, seed: int
) -> None:
    shuffled = Random(seed).sample(results, len(results))
    assert table(results, scoring).ranking() == table(shuffled, scoring).ranking()


@given(results=results, scoring=scorings, seed=st.integers(0, 999))
def test_the_order_in_which_players_registered_does_not_matter(
    results: list[MatchResult], scoring: Scoring, seed: int
) -> None:
    other = Table(Random(seed).sample(PLAYERS, len(PLAYERS)), scoring)
    for result in results:
        other.add(result)
    assert other.ranking() == table(results, scoring).ranking()


@given(results=results)
def test_the_rows_add_up(results: list[MatchResult]) -> None:
    rows = table(results).ranking()
    drawn = sum(result.status == "DRAW" for result in results)
    decided = sum(result.winner is not None for result in results)
    assert sum(row.played for row in rows) == 2 * len(results)
    assert sum(row.wins for row in rows) == decided
    assert sum(row.points for row in rows) == 3 * decided + 2 * drawn
    assert all(row.played == row.wins + row.draws + row.losses for row in rows)
    assert all(row.points == 3 * row.wins + row.draws for row in rows)


@given(results=results, scoring=scorings)
def test_everybody_is_ranked_once_and_more_points_always_come_first(
    results: list[MatchResult], scoring: Scoring
) -> None:
    rows = table(results, scoring).ranking()
    assert sorted(row.player for row in rows) == list(PLAYERS)
    points = [row.points for row in rows]
    assert points == sorted(points, reverse=True)


def test_equal_points_are_parted_by_wins() -> None:
    results = [drew(A, C), drew(A, D), drew(A, E), won(B, C)]
    assert order(results, "wins").startswith("BA")
    assert order(results, "draws").startswith("AB")


def test_equal_points_and_wins_are_parted_by_the_match_between_the_two() -> None:
    assert order([won(B, A), won(A, C)], "wins", "head_to_head") == "BACDE"


def test_two_whom_the_little_league_of_three_leaves_level_are_parted_by_their_own_match() -> None:
    # A, B and C have 3 points each; among the three, A and B have 3 and C none; and B beat A.
    results = [won(B, A), won(A, C), won(C, D)]
    assert order(results, "wins", "head_to_head") == "BACDE"


def test_the_configured_order_of_tie_breakers_holds() -> None:
    results = [won(A, C), drew(B, D), drew(B, E), drew(B, A), won(D, A), won(E, A)]
    # A has 4 points and one win; D and E have 4 points and one win, and both beat A.
    assert order(results, "wins", "head_to_head") == "DEABC"
    assert order(results, "draws", "wins") == "ADEBC"


def test_three_who_beat_each_other_in_a_circle_stay_level() -> None:
    circle = [won(C, B), won(B, A), won(A, C)]
    assert order(circle, "wins", "head_to_head", "draws") == "ABCDE"


def test_of_three_level_players_the_little_league_among_them_decides() -> None:
    # B, C and D have 6 points each; among them C beat both others, and D beat B.
    results = [won(C, B), won(C, D), won(D, B), won(D, A), won(B, A), won(B, E)]
    assert [table(results).row(player).points for player in (B, C, D)] == [6, 6, 6]
    assert order(results, "wins", "head_to_head").startswith("CDB")


def test_a_match_against_someone_who_is_not_level_does_not_count_between_the_level() -> None:
    # A and B have 3 points each; B's came from the leader, A's from the last. They drew never.
    results = [won(E, A), won(E, C), won(B, E), won(A, D)]
    assert order(results, "wins", "head_to_head") == "EABCD"


def test_the_little_league_is_only_of_those_whom_earlier_rules_left_level() -> None:
    # A, B and C have 3 points each, but A has no win: only B's win over C counts between those.
    results = [drew(A, D), drew(A, E), drew(A, D), won(B, C), won(C, A)]
    assert order(results, "wins", "head_to_head").startswith("BCA")


def test_players_who_never_met_go_on_to_the_next_rule() -> None:
    results = [won(A, C), won(B, D), forfeited(A, E, A, E)]
    assert order(results, "wins", "head_to_head", "draws").startswith("BA")


def test_fewer_technical_losses_come_before_the_name() -> None:
    assert order([forfeited(A, B, A, B)]) == "CDEAB"


def test_names_are_ordered_as_people_count() -> None:
    names = [PlayerId(name) for name in ("P100", "P10", "P99", "P2", "P02", "P1", "Q1", "")]
    expected = ["", "P1", "P02", "P2", "P10", "P99", "P100", "Q1"]
    assert [row.player for row in Table(names, STANDARD).ranking()] == expected


def test_a_name_of_absurd_length_is_ordered_all_the_same() -> None:
    names = [PlayerId("P" + "9" * 5000), PlayerId("P1")]
    assert [row.player for row in Table(names, STANDARD).ranking()] == names[::-1]


def test_a_result_with_a_stranger_counts_for_nobody() -> None:
    played = table([])
    with pytest.raises(KeyError, match="Z"):
        played.add(won(A, PlayerId("Z")))
    assert played.ranking() == [Standing(player) for player in PLAYERS]


@pytest.mark.parametrize(
    ("winner", "losers"),
    [(C, set()), (A, {A}), (None, {A}), (B, {A, B}), (A, {C})],
)
def test_a_result_that_contradicts_itself_is_refused(
    winner: PlayerId | None, losers: set[PlayerId]
) -> None:
    with pytest.raises(ValueError, match="expected"):
        ended(A, B, winner, losers)


def test_nobody_plays_against_itself() -> None:
    with pytest.raises(ValueError, match="A cannot play against itself"):
        ended(A, A, None)


def test_an_unknown_tie_breaker_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'goals': expected wins, head_to_head, draws"):
        Scoring(tiebreakers=("wins", "goals"))


def test_the_catalogue_of_tie_breakers_is_read_only() -> None:
    assert not hasattr(TIEBREAKERS, "__setitem__")


@given(results, st.data())
def test_a_result_that_is_taken_out_leaves_no_trace(
    played: list[MatchResult], data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.sampled_from(range(len(played))) if played else st.nothing()))
    whole = table(played)
    for number in gone:
        whole.remove(played[number])
    left = table(result for number, result in enumerate(played) if number not in gone)
    assert whole.ranking() == left.ranking()


def test_players_whom_only_their_names_part_are_level() -> None:
    levels = table([won(A, B), forfeited(C, D, D)]).levels()
    assert [[row.player for row in level] for level in levels] == [[A, C], [B, E], [D]]


@given(results, scorings)
def test_levels_are_the_ranking_in_groups(played: list[MatchResult], scoring: Scoring) -> None:
    made = table(played, scoring)
    assert [row for level in made.levels() for row in level] == made.ranking()
    assert all(len({row.points for row in level}) == 1 for level in made.levels())
