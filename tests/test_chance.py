"""Draws that everybody can check: from a secret alone, without bias, and not to be foreseen."""

from collections import Counter
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.chance import Draws, commit_to, derive_secret, new_seed
from agent_league.season.secrets import make_league_secret, make_match_secret
from agent_league.store.events import ScheduledMatch

DRAWS = 100_000
LIMIT_9_DEGREES = 27.877
"""Chi-square with 9 degrees of freedom is above this once in 1000 times."""


def test_a_hundred_thousand_draws_of_even_odd_are_without_bias() -> None:
    secret = make_league_secret("a league")
    counts = Counter(
        Draws(make_match_secret(secret, match(number))).randint(1, 10) for number in range(DRAWS)
    )
    expected = DRAWS / 10
    chi_square = sum((counts[n] - expected) ** 2 / expected for n in range(1, 11))
    assert sorted(counts) == list(range(1, 11))
    assert chi_square < LIMIT_9_DEGREES


def match(number: int, round_id: int = 1) -> ScheduledMatch:
    return ScheduledMatch(match_id=f"R1M{number}", round_id=round_id, first="P01", second="P02")


@given(st.text(), st.integers(-99, 99), st.integers(0, 99))
def test_the_code_of_the_page_about_fair_draws_computes_the_same_number(
    secret: str, low: int, more: int
) -> None:
    page = Path("docs/fair-draws.md").read_text(encoding="utf-8")
    code = page.partition("```python")[2].partition("```")[0]
    scope: dict[str, Any] = {}
    exec(code, scope)  # noqa: S102 - the page is ours
    assert scope["draw"](secret, low, low + more) == Draws(secret).randint(low, low + more)


@given(st.text(), st.integers(-(10**90), 10**90), st.integers(0, 10**90))
def test_a_number_in_a_range_is_the_one_that_the_library_draws(
    secret: str, low: int, more: int
) -> None:
    drawn = Random.randint(Draws(secret), low, low + more)
    assert Draws(secret).randint(low, low + more) == drawn
    with pytest.raises(ValueError, match="no number from"):
        Draws(secret).randint(low, low - 1 - more)


@given(st.text(), st.integers(1, 600))
def test_any_number_of_bits_can_be_drawn(secret: str, bits: int) -> None:
    assert 0 <= Draws(secret).getrandbits(bits) < 2**bits
    assert 0 <= Draws(secret).random() < 1


def test_the_same_secret_gives_the_same_numbers_in_order() -> None:
    one, other = Draws("x"), Draws("x")
    assert [one.randint(0, 99) for _ in range(50)] == [other.randint(0, 99) for _ in range(50)]
    assert len({Draws("x").randint(0, 10**9), Draws("y").randint(0, 10**9)}) == 2


def test_a_seed_that_nobody_gave_has_128_bits() -> None:
    assert len(bytes.fromhex(new_seed())) == 16
    assert new_seed() != new_seed()


def test_each_match_and_each_round_has_a_secret_of_its_own() -> None:
    secret = make_league_secret("seed")
    secrets = {make_match_secret(secret, match(n, r)) for n in range(10) for r in range(10)}
    assert len(secrets) == 100
    assert not secrets & {secret, "seed", derive_secret(secret, "round 1")}


def test_a_commitment_is_the_hash_of_the_secret() -> None:
    assert commit_to("abc") == sha256(b"abc").hexdigest()
