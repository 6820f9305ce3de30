"""The keys that the league shares with its agents, to prove to each other who they are."""

import secrets
from functools import lru_cache

from agent_league.chance import derive_secret
from agent_league.season.roster import Entry, Token


class Keyring:
    """Makes the key of each token from a key of the league, which no message and no file tells.

    So whoever reads the hash of a token, in a log or in the store, can sign nothing with it.
    """

    def __init__(self) -> None:
        self.league_key = secrets.token_hex(32)
        """A new one, until the league is opened with one that its store has."""

    def make_key(self, token_hash: str) -> str:
        """Return the key that the reply to a registration tells, with the token."""
        return _make_key(self.league_key, token_hash)

    def keys_of(self, entry: Entry) -> tuple[str, ...]:
        """Return the keys that an agent may know, the likeliest first.

        Agents of older versions know only the hash of their token, so it comes last. Those that
        take compact notices are not of an older version.
        """
        return _list_keys(self.league_key, entry.tokens, entry.compact)


@lru_cache(maxsize=4096)
def _make_key(league_key: str, token_hash: str) -> str:
    return derive_secret(league_key, "sign", token_hash)


@lru_cache(maxsize=4096)
def _list_keys(league_key: str, tokens: tuple[Token, ...], is_recent: bool) -> tuple[str, ...]:  # noqa: FBT001 - lru_cache is slow with keywords
    """Return the keys of *tokens*, the newest first; of an older agent also their hashes.

    Anybody can register an endpoint again and get a token for it, so tokens that were issued
    without proof are tried last.
    """
    newest_first = reversed(tokens)
    hashes = [token.hash for token in sorted(newest_first, key=lambda token: not token.proven)]
    keys = [_make_key(league_key, one) for one in hashes]
    return tuple(keys if is_recent else keys + hashes)
