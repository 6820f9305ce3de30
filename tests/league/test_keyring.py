"""The keys with which a league signs: none of them can be read in a file."""

from dataclasses import replace

from agent_league.league.keyring import Keyring
from agent_league.protocol import Role
from agent_league.season.roster import Entry, Token


def entry(*tokens: Token) -> Entry:
    return Entry(Role.REFEREE, "REF01", "R", "1.0.0", "http://r/mcp", ("even_odd",), 1, tokens)


def token(digest: str, *, proven: bool = True) -> Token:
    return Token(digest, "2036-01-01T00:00:00Z", proven)


def test_a_token_that_came_without_proof_is_the_last_key_to_be_tried() -> None:
    ring = Keyring()
    known = token("first"), token("thief", proven=False), token("mine"), token("b", proven=False)
    keys = ring.keys_of(entry(*known))
    assert keys[:2] == (ring.make_key("mine"), ring.make_key("first"))
    assert set(keys[2:4]) == {ring.make_key("thief"), ring.make_key("b")}


def test_the_hash_of_a_token_is_no_key_but_for_agents_of_older_versions() -> None:
    ring = Keyring()
    assert ring.keys_of(entry(token("digest"))) == (ring.make_key("digest"), "digest")
    assert "digest" not in ring.make_key("digest")
    recent = replace(entry(token("digest")), compact=True)
    assert ring.keys_of(recent) == (ring.make_key("digest"),)


def test_each_league_has_keys_of_its_own() -> None:
    assert Keyring().make_key("digest") != Keyring().make_key("digest")
