"""When to try again, and when to stop trying."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeAlias, TypeVar

from agent_league.protocol.play import Retry
from agent_league.transport.failures import NoAnswerError, UnreachableError

T = TypeVar("T")

Between: TypeAlias = Callable[[int, NoAnswerError, float], None]
"""Told of each failed attempt: its number, why it failed, how long until the next."""


class CircuitOpenError(UnreachableError):
    """The peer has failed so often that it is not even tried."""

    @property
    def retryable(self) -> bool:
        return False


def delay(retry: Retry, attempt: int, rng: Random | None = None) -> float:
    """Return how long to wait after failed attempt number *attempt* (from 1)."""
    growth = 2 ** (attempt - 1) if retry.backoff == "exponential" else 1
    longest = retry.base_delay * growth
    return rng.uniform(0, longest) if retry.jitter and rng else longest


async def persistently(
    call: Callable[[], Awaitable[T]],
    retry: Retry,
    between: Between = lambda attempt, error, wait: None,
    rng: Random | None = None,
) -> T:
    """Return what *call* returns, trying again after a failure that may pass."""
    for attempt in range(1, retry.attempts):
        try:
            return await call()
        except NoAnswerError as error:
            if not error.retryable:
                raise
            wait = delay(retry, attempt, rng)
            between(attempt, error, wait)
            await asyncio.sleep(wait)
    return await call()


class Breaker:
    """Opens after *limit* failures in a row; then lets one call through every *rest* seconds."""

    def __init__(self, limit: int = 5, rest: float = 10.0) -> None:
        self._limit, self._rest = limit, rest
        self._failures = 0
        self._next_probe = 0.0

    @property
    def is_open(self) -> bool:
        return self._failures >= self._limit

    def admit(self, now: float) -> None:
        """Let a call pass, or raise `CircuitOpenError`."""
        if not self.is_open:
            return
        if now < self._next_probe:
            raise CircuitOpenError(f"not tried: it failed {self._failures} times in a row")
        self._next_probe = now + self._rest

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self, now: float) -> None:
        self._failures += 1
        if self._failures == self._limit:
            self._next_probe = now + self._rest
