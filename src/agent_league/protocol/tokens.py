"""Tokens and tickets: who may say what to whom, without showing one's token to a third party.

The league keeps only the hash of a token. The hash is then known to the league and to the
token's owner and to nobody else, so it also serves as the key with which each can prove to the
other who it is.
"""

import hashlib
import hmac
import secrets

FORMAT = "tok_{agent_id}_{random}"


def new_token(agent_id: str) -> str:
    return f"tok_{agent_id}_{secrets.token_urlsafe(32)}"


def new_ticket() -> str:
    return f"tkt_{secrets.token_urlsafe(24)}"


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare in constant time, whatever characters a stranger sends."""
    return hmac.compare_digest(
        one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    )


def ticket(key: str, *about: str) -> str:
    """Return the ticket that only the league and the holder of *key* can make for *about*."""
    made = hmac.digest(key.encode(), "\x1f".join(about).encode(), "sha256")
    return f"tkt_{made.hex()}"
