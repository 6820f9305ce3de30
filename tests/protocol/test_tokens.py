import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.protocol import tokens


def test_a_token_names_its_agent_and_has_at_least_32_random_characters() -> None:
    assert re.fullmatch(r"tok_P01_[A-Za-z0-9_-]{32,}", tokens.new_token("P01"))


def test_no_two_tokens_or_tickets_are_the_same() -> None:
    assert len({tokens.new_token("P01") for _ in range(1000)}) == 1000
    assert len({tokens.new_ticket() for _ in range(1000)}) == 1000


def test_a_hash_does_not_show_its_token() -> None:
    token = tokens.new_token("P01")
    made = tokens.hash_token(token)
    assert re.fullmatch(r"[0-9a-f]{64}", made)
    assert made == tokens.hash_token(token)
    assert token.removeprefix("tok_P01_") not in made


@pytest.mark.parametrize("stranger", ["", "tok_P01_", "é", "\ud800", "\x00", "x" * 10_000])
def test_a_stranger_may_send_any_text_as_a_token(stranger: str) -> None:
    assert tokens.is_same_secret(stranger, stranger)
    assert not tokens.is_same_secret(stranger, tokens.new_token("P01"))
    assert len(tokens.hash_token(stranger)) == 64


def test_a_ticket_is_good_for_one_thing_only() -> None:
    key = tokens.hash_token("tok_REF01_secret")
    made = {
        tokens.sign_ticket(key, "match", "R1M1"),
        tokens.sign_ticket(key, "match", "R1M2"),
        tokens.sign_ticket(key, "player", "R1M1"),
        tokens.sign_ticket(key, "match", "R1M1", "P01"),
        tokens.sign_ticket(key, "matchR1M1"),
        tokens.sign_ticket(tokens.hash_token("tok_REF02_secret"), "match", "R1M1"),
    }
    assert len(made) == 6


def test_both_ends_make_the_same_ticket_without_showing_the_key() -> None:
    key = tokens.hash_token("tok_REF01_secret")
    made = tokens.sign_ticket(key, "match", "R1M1")
    assert made == tokens.sign_ticket(key, "match", "R1M1")
    assert made.startswith("tkt_")
    assert key not in made


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.text(st.characters(codec="utf-8")))
def test_a_ticket_is_the_hmac_of_its_parts(key: str, part: str) -> None:
    expected = hmac.new(key.encode(), f"R1M1\x1f{part}".encode(), "sha256").hexdigest()
    assert tokens.sign_ticket(key, "R1M1", part) == f"tkt_{expected}"


def test_a_proof_for_any_of_several_keys_is_found_among_several() -> None:
    keys = [tokens.hash_token(one) for one in ("a", "b", "c")]
    both = tokens.sign_for_any(keys[:2], "R1M1")
    assert tokens.is_signed(both, keys[1:], "R1M1")
    assert tokens.is_signed(both, keys[:1], "R1M1")
    assert not tokens.is_signed(both, keys[2:], "R1M1")
    assert not tokens.is_signed(both, keys, "R1M2")
    assert not tokens.is_signed(None, keys, "R1M1")


def test_the_format_that_an_error_shows_is_the_format_of_a_token() -> None:
    assert tokens.FORMAT.format(agent_id="P01", random="x") == "tok_P01_x"
