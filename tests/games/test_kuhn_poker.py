from itertools import permutations
from random import Random

import pytest

from agent_league.game import GAMES
from agent_league.games.kuhn_poker import CARDS, Hand, State

GAME = GAMES["kuhn_poker"]
RNG = Random(0)


def play_hand(cards: str, moves: str, first: int = 0) -> tuple[int, int]:
    """Return what each seat wins in a hand with these cards; p is a pass, b a bet."""
    state = State(hands=2, current=Hand(first, (cards[0], cards[1])))
    words = {"p": "pass", "b": "bet"}
    for number, letter in enumerate(moves):
        assert not state.past
        assert GAME.to_move(state) == ((first + number) % 2,)
        state = GAME.play(state, {(first + number) % 2: words[letter]}, RNG)
    assert len(state.past) == 1
    return state.chips


@pytest.mark.parametrize(
    ("cards", "moves", "chips"),
    [
        ("KJ", "pp", (1, -1)),
        ("JQ", "pp", (-1, 1)),
        ("JK", "bp", (1, -1)),
        ("KJ", "bb", (2, -2)),
        ("JK", "bb", (-2, 2)),
        ("KJ", "pbp", (-1, 1)),
        ("KJ", "pbb", (2, -2)),
    ],
)
def test_a_hand_pays_as_the_rules_say(cards: str, moves: str, chips: tuple[int, int]) -> None:
    assert play_hand(cards, moves) == chips
    assert play_hand(cards[::-1], moves, first=1) == chips[::-1]


def test_the_view_is_the_same_whatever_card_the_opponent_has() -> None:
    """What is hidden is not shown: neither in this hand nor in an earlier one that was given up."""
    for mine in CARDS:
        others = [card for card in CARDS if card != mine]
        given_up = [Hand(1, (mine, card), ("bet", "pass")) for card in others]
        states = [
            State(3, Hand(0, (mine, card), ("pass", "bet")), (past,))
            for card, past in zip(others, given_up, strict=True)
        ]
        one, other = (GAME.view(state, 0) for state in states)
        assert one == other
        assert GAME.record(states[0]) == GAME.record(states[1])


def test_cards_on_the_table_are_seen_by_all() -> None:
    shown = State(3, Hand(0, ("J", "Q")), (Hand(1, ("K", "J"), ("bet", "bet")),))
    assert GAME.view(shown, 1)["earlier"][0]["theirs"] == "K"
    assert GAME.record(shown)["hands"][0]["cards"] == ["K", "J"]


def test_every_deal_comes_up_equally_often() -> None:
    rng = Random(1)
    deals = [GAME.start({}, rng).current.cards for _ in range(6000)]
    for deal in permutations(CARDS, 2):
        assert deals.count(deal) == pytest.approx(1000, abs=150)


def test_the_players_begin_hands_in_turn() -> None:
    state = GAME.start({"hands": 3}, RNG)
    beginners = []
    while seats := GAME.to_move(state):
        if not state.current.moves:
            beginners.append(seats[0])
        state = GAME.play(state, {seats[0]: "pass"}, RNG)
    assert beginners == [0, 1, 0]
