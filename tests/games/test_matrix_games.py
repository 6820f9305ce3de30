"""Rock-paper-scissors, matching pennies and the prisoner's dilemma: one table each."""

from random import Random

import pytest

from agent_league.game import GAMES, OptionsError, Outcome, count_turns

RNG = Random(0)


def ended(name: str, first: str, second: str, **options: int) -> Outcome:
    """Return how a game ends in which the seats choose by these initials."""
    game = GAMES[name]
    words = {move[0]: move for move in game.legal(game.start({}, RNG), 0)}
    state = game.start({"rounds": len(first), **options}, RNG)
    for one, other in zip(first, second, strict=True):
        assert game.to_move(state) == (0, 1)
        state = game.play(state, {0: words[one], 1: words[other]}, RNG)
    outcome = game.outcome(state)
    assert outcome is not None
    return outcome


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [("r", "s", 0), ("s", "p", 0), ("p", "r", 0), ("s", "r", 1), ("r", "r", None)],
)
def test_each_hand_beats_one_other(first: str, second: str, winner: int | None) -> None:
    assert ended("rock_paper_scissors", first, second).winner == winner


def test_more_rounds_won_win_the_match() -> None:
    assert ended("rock_paper_scissors", "rrp", "srs").winner is None
    assert ended("rock_paper_scissors", "rrr", "srs").scores == (2, 0)


@pytest.mark.parametrize(
    ("first", "second", "scores"),
    [("C", "C", (3, 3)), ("D", "D", (1, 1)), ("D", "C", (5, 0)), ("CCD", "CDD", (4, 9))],
)
def test_the_dilemma_pays_by_its_table(first: str, second: str, scores: tuple[int, int]) -> None:
    assert ended("prisoners_dilemma", first, second).scores == scores


def test_pennies_end_when_the_winner_is_certain() -> None:
    outcome = ended("matching_pennies", "hhhhh", "ttttt", rounds=9)
    assert (outcome.winner, outcome.scores) == (1, (0, 5))


def test_a_round_is_shown_to_both_from_their_own_side() -> None:
    game = GAMES["prisoners_dilemma"]
    state = game.play(game.start({}, RNG), {0: "C", 1: "D"}, RNG)
    views = [game.view(state, seat) for seat in (0, 1)]
    assert [(view["mine"], view["theirs"]) for view in views] == [(["C"], ["D"]), (["D"], ["C"])]
    assert [view["scores"] for view in views] == [[0, 5], [5, 0]]


@pytest.mark.parametrize("rounds", [0, -1, 1001, True, "3", None])
def test_a_number_of_rounds_that_cannot_be_is_refused(rounds: object) -> None:
    with pytest.raises(OptionsError, match="'rounds': expected a whole number from 1 to 1000"):
        GAMES["prisoners_dilemma"].start({"rounds": rounds}, RNG)


def test_the_turns_follow_from_the_options() -> None:
    assert count_turns(GAMES["prisoners_dilemma"], {"rounds": 200}) == 200
    assert count_turns(GAMES["kuhn_poker"], {"hands": 2}) == 6
    assert count_turns(GAMES["tic_tac_toe"], {}) == 9


def test_a_view_stays_what_it_was_when_the_game_goes_on() -> None:
    game = GAMES["prisoners_dilemma"]
    state = game.play(game.start({}, Random(0)), {0: "C", 1: "D"}, Random(0))
    view, before = game.view(state, 0), hash(state)
    branches = [game.play(state, {0: one, 1: one}, Random(0)) for one in "CD"]
    assert (view["mine"], view["theirs"], hash(state)) == (["C"], ["D"], before)
    assert [game.view(one, 1)["mine"] for one in branches] == [["D", "C"], ["D", "D"]]
