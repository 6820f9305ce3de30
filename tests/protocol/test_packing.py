"""Details that are too long for a message are packed, and nobody can send a bomb."""

import zlib
from base64 import b64encode
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.protocol.packing import (
    LONGEST,
    MAX_UNPACKED,
    PACKED,
    pack_details,
    unpack_details,
)

moves = st.lists(
    st.fixed_dictionaries({"P01": st.sampled_from("CD"), "P02": st.sampled_from("CD")})
)


@given(moves, st.integers(1, 2000))
def test_what_was_packed_is_unpacked(some: list[dict[str, str]], times: int) -> None:
    details = {"reason": "P01 wins", "choices": {"P01": "C"}, "moves": some * times}
    packed = pack_details(details, ("reason", "choices"))
    assert packed is not None
    assert {"reason", "choices"} <= packed.keys()
    assert len(msgspec.json.encode(packed)) < LONGEST + 500
    assert unpack_details(packed) == details


def test_what_is_short_stays_as_it_is() -> None:
    details = {"moves": [{"P01": 1}], "board": [1, None]}
    assert pack_details(details, ()) == unpack_details(details) == details


def test_what_does_not_fit_even_packed_is_not_packed() -> None:
    noise = [str(hash((number, "x"))) for number in range(5000)]
    assert pack_details({"moves": noise}, ()) is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "no base64!",
        "abcd",
        b64encode(zlib.compress(b"[1]")).decode(),
        b64encode(zlib.compress(b'{"moves": 1')).decode(),
        b64encode(zlib.compress(b'{"a":1}')[:-4]).decode(),
        b64encode(zlib.compress(b"[" * 100_000)).decode(),
        b64encode(zlib.compress(b'{"a":"' + b"x" * MAX_UNPACKED + b'"}')).decode(),
    ],
)
def test_what_cannot_be_unpacked_is_an_error_that_names_the_field(text: Any) -> None:
    with pytest.raises(ValueError, match=r"details\.packed: expected the base64 text"):
        unpack_details({PACKED: text})
