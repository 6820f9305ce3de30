"""A queue of matches in the store: managers put matches in, workers of the referee pool take them."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Protocol, TypeAlias

import msgspec
from msgspec import Struct

from agent_league.extras import MissingExtraError, import_extra
from agent_league.protocol import tokens
from agent_league.protocol.play import StartMatch


class PoolJob(Struct, frozen=True):
    """Matches that one worker plays one after the other, and what it needs for that."""

    league_id: str
    referee_id: str
    """The id of the pool in that league."""
    token: str
    """With which results are reported; it never leaves the database and the workers."""
    orders: list[StartMatch]

    @property
    def keys(self) -> list[str]:
        return [make_key(order.match_id, order.ticket) for order in self.orders]


def make_key(match_id: str, ticket: str) -> str:
    """Return the name of one attempt at a match, in the queue."""
    return f"{match_id}.{tokens.hash_token(ticket)[:8]}"


_decoder: msgspec.json.Decoder[PoolJob] = msgspec.json.Decoder(PoolJob)


def encode_job(job: PoolJob) -> bytes:
    return msgspec.json.encode(job)


def decode_job(payload: bytes) -> PoolJob:
    return _decoder.decode(payload)


PlayJob: TypeAlias = Callable[[PoolJob], Awaitable[None]]


class MatchQueue(Protocol):
    """What a manager does with the queue; every method may raise `StoreError`."""

    async def count_seats(self) -> int:
        """Return how many matches the living workers play at once, all together."""
        ...

    async def list_queued(self, league_id: str) -> AbstractSet[str]:
        """Return the keys of the matches that wait in the queue, or that a worker has."""
        ...

    async def submit(self, jobs: Sequence[PoolJob]) -> None:
        """Put *jobs* into the queue, if this program still leads their league."""
        ...


def prepare_queue() -> None:
    """Import now what a queue needs, if it is installed, so that a new leader need not wait."""
    with suppress(MissingExtraError):
        import_extra("pgqueuer", "postgres")


def cut_into_jobs(
    orders: Sequence[StartMatch], size: int, make_job: Callable[[list[StartMatch]], PoolJob]
) -> Iterable[PoolJob]:
    """Yield jobs of at most *size* matches each."""
    for first in range(0, len(orders), size):
        yield make_job(list(orders[first : first + size]))
