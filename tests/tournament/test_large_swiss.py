"""A Swiss round for very many players: nobody meets twice, nobody sits out twice, neighbours meet."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_league.tournament.formats import FORMATS
from agent_league.tournament.large_swiss import is_large, pair_neighbours, read_course
from agent_league.tournament.pairing import Played
from agent_league.tournament.swiss import MOST_BY_LIBRARY
from agent_league.vocabulary import PlayerId


def name_players(count: int) -> list[PlayerId]:
    return [PlayerId(f"P{number:02}") for number in range(1, count + 1)]


def play_rounds(players: list[PlayerId], rounds: int, seed: int) -> list[list[Played]]:
    rng, history = Random(seed), list[list[Played]]()
    for _ in range(rounds):
        pairs = pair_neighbours(players, history)
        history.append([Played(*pair, rng.choice([*pair, None])) for pair in pairs])
    return history


@settings(max_examples=60, deadline=None)
@given(st.integers(10, 60), st.integers(1, 4), st.integers(0, 2**32))
def test_nobody_meets_twice_and_nobody_sits_out_twice(count: int, rounds: int, seed: int) -> None:
    players = name_players(count)
    if not is_large(count, rounds, 0):
        return
    met: set[frozenset[PlayerId]] = set()
    byes: list[PlayerId] = []
    for matches in play_rounds(players, rounds, seed):
        playing = [player for match in matches for player in match[:2]]
        assert len(playing) == len(set(playing)) == count - count % 2
        byes += set(players) - set(playing)
        pairs = {frozenset(match[:2]) for match in matches}
        assert not pairs & met
        met |= pairs
    assert len(byes) == len(set(byes))


@settings(max_examples=30, deadline=None)
@given(st.integers(20, 60), st.integers(0, 2**32))
def test_seats_are_shared_and_points_are_close(count: int, seed: int) -> None:
    players = name_players(count)
    history = play_rounds(players, 4, seed)
    course = read_course(players, history)
    assert all(abs(extra) <= 3 for extra in course.firsts.values())
    order = sorted(players, key=lambda player: -course.points[player])
    places = {player: place for place, player in enumerate(order)}
    distances = [abs(places[a] - places[b]) for a, b in pair_neighbours(players, history)]
    assert sum(distances) / len(distances) < count / 4


def test_a_swiss_league_of_more_players_than_the_library_pairs_takes_this_way() -> None:
    players = name_players(MOST_BY_LIBRARY + 1)
    assert FORMATS["swiss"].pair(players, [], 8) == pair_neighbours(players, [])
    assert not is_large(MOST_BY_LIBRARY + 1, MOST_BY_LIBRARY // 2, MOST_BY_LIBRARY)
