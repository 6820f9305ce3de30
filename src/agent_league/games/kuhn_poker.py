"""Kuhn poker, ten hands: three cards, J below Q below K; each player gets one that only it sees.

Both put one chip into the pot. In turn they pass or bet; to bet puts in one more chip. After a bet,
to pass gives up the hand and to bet calls. Two passes, or a call, show the cards: the higher card
takes the pot. The players begin hands in turn.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from agent_league.game import Game, IllegalMoveError, Outcome, read_counts
from agent_league.picture import Picture
from agent_league.vocabulary import Json, Seat

CARDS = ("J", "Q", "K")
MOVES = ("pass", "bet")
LONGEST_HAND = 3
WINS_BY_CARD = {("pass", "pass"): 1, ("bet", "bet"): 2, ("pass", "bet", "bet"): 2}
"""The hands that end with the cards on the table, and how many chips they win."""
GIVEN_UP = {("bet", "pass"), ("pass", "bet", "pass")}
"""The hands that end because the last to move gave up, and lost one chip."""


class Hand(NamedTuple):
    """One hand: who begins, the card of each seat, and the moves in turn."""

    first: Seat
    cards: tuple[str, str]
    moves: tuple[str, ...] = ()

    @property
    def turn(self) -> Seat:
        return (self.first + len(self.moves)) % 2

    @property
    def is_shown(self) -> bool:
        """Whether it ended with the cards on the table."""
        return self.moves in WINS_BY_CARD

    def count_gains(self) -> tuple[int, int] | None:
        """Return what each seat won, or None while the hand goes on."""
        if self.moves in GIVEN_UP:
            winner, chips = self.turn, 1
        elif self.is_shown:
            winner = 0 if CARDS.index(self.cards[0]) > CARDS.index(self.cards[1]) else 1
            chips = WINS_BY_CARD[self.moves]
        else:
            return None
        return (chips, -chips) if winner == 0 else (-chips, chips)


class State(NamedTuple):
    """The hands that are over, and the one that is played."""

    hands: int
    current: Hand
    past: tuple[Hand, ...] = ()
    chips: tuple[int, int] = (0, 0)


class KuhnPoker:
    """Who has won more chips after the last hand wins the match; as many is a draw."""

    seats = 2
    turns = 10 * LONGEST_HAND

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        return State(_count_hands(options), _deal(0, rng))

    def count_turns(self, options: Mapping[str, Json]) -> int:
        return LONGEST_HAND * _count_hands(options)

    def to_move(self, state: State) -> Sequence[Seat]:
        return (state.current.turn,) if len(state.past) < state.hands else ()

    def view(self, state: State, seat: Seat) -> Json:
        hand = state.current
        return {
            "you": seat,
            "hand": len(state.past) + 1,
            "hands": state.hands,
            "card": hand.cards[seat],
            "you_begin": hand.first == seat,
            "moves": list(hand.moves),
            "scores": [state.chips[seat], state.chips[1 - seat]],
            "earlier": [_show_to(one, seat) for one in state.past],
        }

    def read_move(self, raw: Json) -> str:
        for move in MOVES:
            if raw == move:
                return move
        raise IllegalMoveError(f"expected 'pass' or 'bet', got {raw!r}")

    def legal(self, state: State, seat: Seat) -> Sequence[str]:
        return MOVES if seat in self.to_move(state) else ()

    def play(self, state: State, moves: Mapping[Seat, str], rng: Random) -> State:
        ((_, move),) = moves.items()
        hand = state.current._replace(moves=(*state.current.moves, move))
        gains = hand.count_gains()
        if gains is None:
            return state._replace(current=hand)
        chips = (state.chips[0] + gains[0], state.chips[1] + gains[1])
        return State(state.hands, _deal(1 - hand.first, rng), (*state.past, hand), chips)

    def outcome(self, state: State) -> Outcome | None:
        if self.to_move(state):
            return None
        won = abs(state.chips[0])
        if not won:
            return Outcome(None, "Nobody has won more chips than the other", state.chips)
        winner = 0 if state.chips[0] > 0 else 1
        unit = "chip" if won == 1 else "chips"
        return Outcome(winner, f"{{{winner}}} has won {won} {unit}", state.chips)

    def record(self, state: State) -> dict[str, Json]:
        return {"hands": list(map(_show_to_all, state.past)), "scores": list(state.chips)}

    def picture(self, shown: Json) -> Picture:
        one, other = shown["scores"]
        if "card" not in shown:
            hands = [[*_mask(hand["cards"]), *hand["moves"]] for hand in shown["hands"]]
            return Picture([["A", "B"], *hands], f"chips: A {one}, B {other}")
        began = "you begin" if shown["you_begin"] else "opponent begins"
        rows = [["your card", shown["card"]], ["moves", *shown["moves"]]]
        hand = f"hand {shown['hand']} of {shown['hands']}"
        return Picture(rows, f"{hand}, {began}; chips: you {one}, opponent {other}")


def _count_hands(options: Mapping[str, Json]) -> int:
    return read_counts(options, hands=(10, 1, 1000))["hands"]


def _deal(first: Seat, rng: Random) -> Hand:
    one, other = rng.sample(CARDS, 2)
    return Hand(first, (one, other))


def _show_to(hand: Hand, seat: Seat) -> Json:
    """Return a past hand as *seat* saw it."""
    theirs = hand.cards[1 - seat] if hand.is_shown else None
    begins = hand.first == seat
    return {"card": hand.cards[seat], "theirs": theirs, "began": begins, "moves": list(hand.moves)}


def _show_to_all(hand: Hand) -> Json:
    """Return a past hand as a spectator saw it: cards that were not shown stay hidden."""
    cards = list(hand.cards) if hand.is_shown else [None, None]
    return {"first": hand.first, "cards": cards, "moves": list(hand.moves)}


def _mask(cards: Sequence[str | None]) -> list[str]:
    return [card or "?" for card in cards]


game: Game[State, str] = KuhnPoker()
