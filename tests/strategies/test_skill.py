"""The strategies that are made for a game play it well."""

from collections.abc import Mapping
from itertools import permutations, product
from math import sqrt
from random import Random
from typing import Any

import pytest

from agent_league.chance import make_rng
from agent_league.game import GAMES
from agent_league.games.kuhn_poker import CARDS, MOVES, Hand
from agent_league.lab.matches import Contestant, Table
from agent_league.lab.series import DRAW, LOSS, WIN, Meeting, play_meeting
from agent_league.player import Brain, load_brain
from agent_league.strategies.cfr import Chances, train
from agent_league.strategies.minimax import find_best
from agent_league.strategies.q_learning import QLearner
from agent_league.strategy import STRATEGIES, Learner, Situation, instantiate, suits
from agent_league.vocabulary import Seat


def meet(game: str, first: str, second: str, matches: int, **options: int) -> bytes:
    return play_meeting(Meeting(game, first, second, matches, "seed", options)).endings


@pytest.mark.parametrize("opponent", ["random", "minimax", "pattern"])
def test_minimax_never_loses_at_tic_tac_toe(opponent: str) -> None:
    endings = meet("tic_tac_toe", "minimax", opponent, 200)
    assert LOSS not in endings
    if opponent == "random":
        assert endings.count(WIN) > 0.6 * len(endings)


@pytest.mark.parametrize("me", [0, 1])
def test_minimax_cannot_be_beaten_at_tic_tac_toe_whatever_is_played(me: Seat) -> None:
    game, seen = GAMES["tic_tac_toe"], set[object]()

    def walk(state: Any) -> None:
        if state in seen:
            return
        seen.add(state)
        outcome = game.outcome(state)
        if outcome is not None:
            assert outcome.winner in {None, me}
            return
        (seat,) = game.to_move(state)
        moves = game.legal(state, seat)
        if seat == me:
            moves = [moves[place] for place in find_best("tic_tac_toe", state)]
        for move in moves:
            walk(game.play(state, {seat: move}, Random(0)))

    walk(game.start({}, Random(0)))
    assert len(seen) > 100


@pytest.mark.parametrize("seed", range(8))
def test_minimax_always_finds_the_same_moves_in_a_position(seed: int) -> None:
    game, rng = GAMES["connect_four"], Random(seed)
    state = game.start({}, rng)
    for number in range(6 + seed):
        state = game.play(state, {number % 2: rng.choice(game.legal(state, number % 2))}, rng)
        if not game.to_move(state):
            return
    find = find_best.__wrapped__  # without what it keeps
    first = find("connect_four", state)
    assert find("connect_four", state) == first


def test_minimax_beats_random_at_connect_four() -> None:
    assert meet("connect_four", "minimax", "random", 6).count(WIN) == 6


def test_minimax_takes_a_win_and_stops_one() -> None:
    game, rng, minimax = GAMES["connect_four"], Random(0), STRATEGIES["minimax"]
    state = game.start({}, rng)
    for seat, column in enumerate([0, 6, 1, 6, 2, 5]):
        state = game.play(state, {seat % 2: column}, rng)
    asked = Situation(game.view(state, 0), game.legal(state, 0), rng, game="connect_four")
    assert minimax(asked) == 3
    state = game.play(state, {0: 4}, rng)
    asked = Situation(game.view(state, 1), game.legal(state, 1), rng, game="connect_four")
    assert minimax(asked) == 3


def test_cfr_finds_an_equilibrium_of_kuhn_poker() -> None:
    bets: Mapping[tuple[str, tuple[str, ...]], float] = {
        known: chances[1] for known, chances in train().items()
    }
    close = 0.05
    bluff = bets["J", ()]
    assert 0 <= bluff <= 1 / 3 + close
    assert bets["K", ()] == pytest.approx(3 * bluff, abs=3 * close)
    assert bets["Q", ()] == pytest.approx(0, abs=close)
    assert bets["Q", ("pass", "bet")] == pytest.approx(bluff + 1 / 3, abs=close)
    assert bets["J", ("pass",)] == pytest.approx(1 / 3, abs=close)
    assert bets["Q", ("bet",)] == pytest.approx(1 / 3, abs=close)
    assert bets["K", ("bet",)] == pytest.approx(1, abs=close)
    assert bets["J", ("bet",)] == pytest.approx(0, abs=close)


def expect(hand: Hand, chances: Chances) -> float:
    """Return what a hand is worth to the first seat if both play by *chances*."""
    gains = hand.count_gains()
    if gains is not None:
        return gains[0]
    likely = chances[hand.cards[hand.turn], hand.moves]
    return sum(
        chance * expect(hand._replace(moves=(*hand.moves, move)), chances)
        for move, chance in zip(MOVES, likely, strict=True)
    )


def answer_best(seat: Seat, chances: Chances) -> float:
    """Return what *seat* wins a hand by its best pure strategy against *chances*."""
    own = [known for known in chances if len(known[1]) % 2 == seat]
    best = -2.0
    for choices in product(((1.0, 0.0), (0.0, 1.0)), repeat=len(own)):
        mixed = {**chances, **dict(zip(own, choices, strict=True))}
        worth = sum(expect(Hand(0, deal), mixed) for deal in permutations(CARDS, 2)) / 6
        best = max(best, worth if seat == 0 else -worth)
    return best


def test_cfr_has_the_value_of_kuhn_poker_and_nobody_can_exploit_it() -> None:
    deals = list(permutations(CARDS, 2))
    value = sum(expect(Hand(0, deal), train()) for deal in deals) / len(deals)
    assert value == pytest.approx(-1 / 18, abs=0.002)
    assert answer_best(0, train()) < -1 / 18 + 0.01
    assert answer_best(1, train()) < 1 / 18 + 0.01


def test_cfr_wins_chips_from_a_random_player() -> None:
    met = play_meeting(Meeting("kuhn_poker", "cfr", "random", 200, "seed"))
    assert met.scores[0] > 100
    assert met.scores[0] == -met.scores[1]


def points_of(endings: bytes) -> list[int]:
    return [{LOSS: 0, DRAW: 1, WIN: 3}[one] for one in endings]


@pytest.mark.parametrize("opponent", ["always_even", "alternating"])
def test_the_learner_earns_more_than_chance_within_one_league(opponent: str) -> None:
    """A random player has 1.25 points a match against anybody: see docs/writing-a-strategy.md."""
    meeting = Meeting("even_odd", "q_learning", opponent, 600, "seed", series=600)
    points = points_of(play_meeting(meeting).endings)
    mean = sum(points) / len(points)
    spread = sqrt(sum((one - mean) ** 2 for one in points) / len(points))
    assert mean - 1.96 * spread / sqrt(len(points)) > 1.25


@pytest.mark.parametrize("opponent", ["alternating", "mirror"])
def test_the_learner_beats_habits_where_they_can_be_beaten(opponent: str) -> None:
    endings = meet("matching_pennies", "q_learning", opponent, 100)
    assert endings.count(WIN) >= 85


def test_what_was_learned_is_saved_and_loaded() -> None:
    one, other = QLearner(), QLearner()
    one.worth["state"] = {'"even"': [1.5, 7.0]}
    other.load(one.save())
    assert other.worth == one.worth
    other.load("nonsense")
    assert other.worth == one.worth
    assert isinstance(other, Learner)


def test_what_was_learned_in_one_league_helps_from_the_beginning_of_the_next() -> None:
    """Another instance goes on from what was saved, with a memory of no opponent."""
    table = Table("even_odd", GAMES["even_odd"], {})

    def play_league(learner: QLearner, seed: str, matches: int) -> float:
        """Return the share of matches in which the learner differs, which is all of its skill."""
        players = [
            Contestant(Brain(learner, "q_learning", trusted=True), Random(seed)),
            Contestant(load_brain("alternating"), Random(f"{seed}|2")),
        ]
        differ = 0
        for number in range(matches):
            match = table.play(players, make_rng(f"{seed}|{number}"))
            differ += match.moves[0] != match.moves[1]
            for seat, player in enumerate(players):
                player.learn(players[1 - seat].brain.name, match, seat)
        return differ / matches

    fresh, later = [], []
    for seed in map(str, range(30)):
        learner, successor = QLearner(), QLearner()
        play_league(learner, seed, 300)
        successor.load(learner.save())
        fresh.append(play_league(QLearner(), f"{seed} fresh", 20))
        later.append(play_league(successor, f"{seed} later", 20))
    assert sum(later) / len(later) > sum(fresh) / len(fresh) + 0.15
    assert sum(later) / len(later) > 0.75


def test_each_player_has_a_learner_of_its_own() -> None:
    kind = STRATEGIES["q_learning"]
    assert instantiate(kind) is not instantiate(kind)


def test_fictitious_play_answers_the_most_frequent_hand() -> None:
    game, rng = GAMES["rock_paper_scissors"], Random(0)
    state = game.start({}, rng)
    for _ in range(2):
        state = game.play(state, {0: "rock", 1: "scissors"}, rng)
    play = STRATEGIES["fictitious_play"]
    for seat, answer in ((0, "rock"), (1, "paper")):
        view = game.view(state, seat)
        asked = Situation(view, game.legal(state, seat), rng, game="rock_paper_scissors")
        assert play(asked) == answer


def test_a_strategy_suits_the_games_it_is_made_for() -> None:
    assert suits(STRATEGIES["random"], "any game")
    assert suits(STRATEGIES["minimax"], "tic_tac_toe")
    assert not suits(STRATEGIES["minimax"], "even_odd")


DILEMMA = {
    "always_cooperate": "CCCC",
    "always_defect": "DDDD",
    "tit_for_tat": "CCDC",
    "suspicious_tit_for_tat": "DCDC",
    "tit_for_two_tats": "CCCC",
    "grim_trigger": "CCDD",
}


@pytest.mark.parametrize(("name", "expected"), DILEMMA.items())
def test_the_family_answers_a_single_defection(name: str, expected: str) -> None:
    theirs, mine, rng = "CDC", "", Random(0)
    for number in range(4):
        view = {"mine": list(mine), "theirs": list(theirs[:number])}
        mine += str(instantiate(STRATEGIES[name])(Situation(view, ("C", "D"), rng)))
    assert mine == expected


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [("C", "C", "C"), ("C", "D", "D"), ("D", "C", "D"), ("D", "D", "C")],
)
def test_pavlov_stays_when_it_won_and_shifts_when_it_lost(
    mine: str, theirs: str, expected: str
) -> None:
    view = {"mine": [mine], "theirs": [theirs]}
    assert STRATEGIES["pavlov"](Situation(view, ("C", "D"), Random(0))) == expected
