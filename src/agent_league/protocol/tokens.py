"""Tokens and tickets prove who sent a message, and no token is shown to a third agent.

The league keeps only the hash of a token. Only the league and the owner of the token know that
hash, so it is also the key with which each proves to the other who it is.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from functools import lru_cache

FORMAT = "tok_{agent_id}_{random}"
MAX_PROOFS = 32
"""How many proofs of one text are looked at; the league never writes as many."""


def new_token(agent_id: str) -> str:
    return f"tok_{agent_id}_{secrets.token_urlsafe(32)}"


def new_ticket() -> str:
    return f"tkt_{secrets.token_urlsafe(24)}"


def is_ticket(text: str | None) -> bool:
    """Whether *text* looks like a ticket, which only a league like ours gives."""
    return (text or "").startswith("tkt_")


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_same_secret(one: str, other: str) -> bool:
    """Compare in constant time, whatever characters a third-party agent sends."""
    try:
        return hmac.compare_digest(one, other)
    except TypeError:  # it compares texts only if all characters are ASCII
        return hmac.compare_digest(
            one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
        )


def sign_for_any(keys: Iterable[str], *parts: str) -> str:
    """Return one text that proves *parts* to whoever holds any of *keys*."""
    return ".".join([sign_ticket(key, *parts) for key in keys])


def is_signed(signature: str | None, keys: Iterable[str], *parts: str) -> bool:
    """Whether *signature* proves *parts* to the holder of *keys*."""
    proofs = (signature or "").split(".", MAX_PROOFS)[:MAX_PROOFS]
    expected = [sign_ticket(key, *parts) for key in keys]
    return any(is_same_secret(proof, own) for own in expected for proof in proofs)


@lru_cache(maxsize=4096)  # a proof is made, or looked at, several times
def sign_ticket(key: str, *parts: str) -> str:
    """Return the ticket that only the league and the holder of *key* can make for *parts*."""
    digest = _start_hmac(key).copy()
    digest.update("\x1f".join(parts).encode())
    return f"tkt_{digest.hexdigest()}"


@lru_cache(maxsize=4096)
def _start_hmac(key: str) -> hmac.HMAC:
    """Return an HMAC of nothing yet: to copy it takes a third of the time to make it."""
    return hmac.new(key.encode(), digestmod="sha256")
