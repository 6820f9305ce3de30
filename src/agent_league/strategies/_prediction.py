"""What strategies share: playing a move if one may, and differing from what is expected.

To differ is the skill of Even/Odd: equal calls draw, for 1 point each; different calls are a
coin toss for 3, worth 1.5. No call makes a win more likely than the coin does.
"""

from collections.abc import Sequence

from agent_league.strategy import Situation
from agent_league.vocabulary import Json


def prefer(move: Json, situation: Situation) -> Json:
    """Return *move* where it is legal, else any legal move."""
    for legal in situation.legal:
        if legal == move:
            return legal  # JSON's 1, 1.0 and true are equal here and not in a game
    return situation.rng.choice(situation.legal)


def differ(evidence: Sequence[Json], situation: Situation) -> Json:
    """Return a legal move other than the likeliest, which is the most frequent in *evidence*.

    Without evidence about this opponent, all opponents are the evidence; without any, or
    when nothing else is legal, it is any legal move.
    """
    moves = evidence or situation.everyone
    if not moves:
        return situation.rng.choice(situation.legal)
    expected = _choose(_most_frequent(moves), situation)
    others = [move for move in situation.legal if move != expected]
    return _choose(others or situation.legal, situation)


def _choose(moves: Sequence[Json], situation: Situation) -> Json:
    """Return one of *moves*; where there is but one, no number is drawn."""
    return moves[0] if len(moves) == 1 else situation.rng.choice(moves)


def _most_frequent(moves: Sequence[Json]) -> list[Json]:
    """Return the moves that occur most often, each once."""
    distinct = _list_distinct(moves)
    tally = [moves.count(move) for move in distinct]
    most = max(tally)
    return [move for move, count in zip(distinct, tally, strict=True) if count == most]


def _list_distinct(moves: Sequence[Json]) -> list[Json]:
    try:
        return list(dict.fromkeys(moves))
    except TypeError:  # a move may be a list, which is no key
        distinct: list[Json] = []
        for move in moves:
            if move not in distinct:
                distinct.append(move)
        return distinct
