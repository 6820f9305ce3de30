"""Promotion and relegation: who moves, who stays, and that nobody is lost."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from agent_league.tournament.divisions import draw_divisions, exchange, plan_season

SIZES = st.lists(st.integers(2, 8), min_size=1, max_size=5)
MOVERS = st.integers(0, 5)


def make_tables(sizes: list[int]) -> list[list[str]]:
    return [[f"D{d}-{n}" for n in range(size)] for d, size in enumerate(sizes)]


@given(SIZES, MOVERS)
def test_everybody_plays_in_one_division_and_sizes_stay(sizes: list[int], movers: int) -> None:
    tables = make_tables(sizes)
    after = plan_season(tables, movers, sizes)
    assert sorted(chain(*after)) == sorted(chain(*tables))
    assert [len(division) for division in after] == sizes


@given(SIZES, MOVERS)
def test_the_first_go_up_the_last_go_down_and_all_others_stay(
    sizes: list[int], movers: int
) -> None:
    tables = make_tables(sizes)
    after = exchange(tables, movers)
    place = {name: number for number, division in enumerate(after) for name in division}
    for number, table in enumerate(tables):
        up = min(movers, len(table) // 2, len(tables[number - 1]) // 2) if number else 0
        below = tables[number + 1] if number + 1 < len(tables) else []
        down = min(movers, len(table) // 2, len(below) // 2)
        moves = [place[name] - number for name in table]
        assert moves == [-1] * up + [0] * (len(table) - up - down) + [1] * down


@given(SIZES, MOVERS, st.data())
def test_gaps_are_filled_from_below_and_newcomers_begin_last(
    sizes: list[int], movers: int, data: st.DataObject
) -> None:
    tables = make_tables(sizes)
    names = list(chain(*tables))
    gone = data.draw(st.sets(st.sampled_from(names)))
    newcomers = [f"new-{n}" for n in range(data.draw(st.integers(0, 5)))]
    after = plan_season(tables, movers, sizes, gone, newcomers)
    everybody = list(chain(*after))
    assert sorted(everybody) == sorted([*(set(names) - gone), *newcomers])
    assert everybody[len(everybody) - len(newcomers) :] == newcomers
    for division, size in list(zip(after, sizes, strict=True))[:-1]:
        assert len(division) <= size
    filled = [len(division) == size for division, size in zip(after[:-1], sizes, strict=False)]
    assert filled == sorted(filled, reverse=True)


def test_the_last_division_takes_all_who_are_left() -> None:
    assert draw_divisions(list("abcdefg"), [2, 2, 2]) == [["a", "b"], ["c", "d"], ["e", "f", "g"]]
    assert draw_divisions(list("ab"), [2, 2]) == [["a", "b"], []]
