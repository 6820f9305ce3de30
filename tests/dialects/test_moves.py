"""Which move an answer means, however a model has written it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from agent_league.dialects.mcp.moves import MAX_TEXT, find_legal_move
from agent_league.vocabulary import Json

PARITIES = ["even", "odd"]
CELLS = [0, 2, 4, 8]


@pytest.mark.parametrize(
    ("answer", "legal", "move"),
    [
        ("even", PARITIES, "even"),
        ("**ODD**", PARITIES, "odd"),
        ({"choice": "Odd"}, PARITIES, "odd"),
        ("```\neven\n```", PARITIES, "even"),
        ('```json\n{"move": "odd", "why": "even was last"}\n```', PARITIES, "odd"),
        ("Going even.\nEven it is.", PARITIES, "even"),
        ("4", CELLS, 4),
        (4, CELLS, 4),
        ({"move": "4"}, CELLS, 4),
        ("I take cell 8 of 9", CELLS, 8),
        ("Row 0, column 2", CELLS, UNSET),
        ("even or odd", PARITIES, UNSET),
        ("uneven", PARITIES, UNSET),
        ("", PARITIES, UNSET),
        (None, PARITIES, UNSET),
        ({"unrelated": "even"}, PARITIES, UNSET),
        ("x" * MAX_TEXT + " even", PARITIES, UNSET),
        ("even", [], UNSET),
    ],
)
def test_the_one_move_that_an_answer_can_mean_is_found(
    answer: Json, legal: list[Json], move: object
) -> None:
    assert find_legal_move(answer, legal) == move


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["move", "choice", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(answer=values, legal=st.lists(values, max_size=5))
def test_whatever_is_answered_is_a_legal_move_or_none(answer: Json, legal: list[Json]) -> None:
    found = find_legal_move(answer, legal)
    assert found is UNSET or found in legal


@given(legal=st.lists(st.integers(-9, 99), min_size=1, unique=True), data=st.data())
def test_a_move_in_a_fence_is_found(legal: list[int], data: st.DataObject) -> None:
    move = data.draw(st.sampled_from(legal))
    assert find_legal_move(f'So:\n```json\n{{"move": {move}}}\n```', legal) == move
