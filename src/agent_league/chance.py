"""Random numbers that a seed determines, and draws that everybody can check afterwards.

The seed of a league gives the secret of the league, that gives a secret for each round, and that
one for each match. Whoever knows a secret can compute those below it, and none above it.
"""

import secrets
from functools import lru_cache
from hashlib import blake2b, sha256
from hmac import digest
from random import Random

BLOCK_BITS = 256


def new_seed() -> str:
    """Return a seed that nobody can guess: 128 bits."""
    return secrets.token_hex(16)


def make_rng(*seed: str) -> Random:
    """Return a generator for *seed*; seeding `Random` with a text takes three times as long."""
    digest = blake2b("|".join(seed).encode(), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big"))


@lru_cache(maxsize=4096)  # those of a league and of its rounds are needed for each match
def derive_secret(secret: str, *labels: str) -> str:
    """Return the secret that *secret* gives for *labels*: HMAC-SHA256, in hexadecimal digits."""
    return digest(secret.encode(), "|".join(labels).encode(), "sha256").hex()


@lru_cache(maxsize=4096)  # the invitations, the result and the check of it need the same one
def commit_to(secret: str) -> str:
    """Return what can be published before a draw: the SHA-256 of its secret, in hexadecimal digits."""
    return sha256(secret.encode()).hexdigest()


class Draws(Random):
    """The chance of one match, from its secret alone, so that any program can compute it again.

    Number *n* (from 0) is the SHA-256 of "secret|n", of which the first bits are used. A number
    below a limit takes as many bits as the limit has, and is drawn again if it is not below it.
    """

    def __init__(self, secret: str) -> None:
        # The state that `Random` keeps is not used, so it is not seeded: that takes long.
        self._secret = secret
        self._count = 0

    def getrandbits(self, k: int, /) -> int:
        """Return a number of *k* bits."""
        if k <= BLOCK_BITS:  # as nearly always
            return int.from_bytes(self._next_block(), "big") >> (BLOCK_BITS - k)
        blocks = -(-k // BLOCK_BITS)
        data = b"".join([self._next_block() for _ in range(blocks)])
        return int.from_bytes(data, "big") >> (blocks * BLOCK_BITS - k)

    def randint(self, a: int, b: int) -> int:
        """Return a number from *a* to *b*: the same as that of `Random`, in half the time."""
        limit = b - a + 1
        if limit <= 0:
            raise ValueError(f"there is no number from {a} to {b}")
        bits = limit.bit_length()
        number = self.getrandbits(bits)
        while number >= limit:
            number = self.getrandbits(bits)
        return a + number

    def random(self) -> float:
        """Return a number from 0 up to, not including, 1."""
        return self.getrandbits(53) / float(2**53)

    def _next_block(self) -> bytes:
        count = self._count
        self._count = count + 1
        return sha256(f"{self._secret}|{count}".encode()).digest()
