"""When to try again."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeAlias, TypeVar

from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.play import Retry

T = TypeVar("T")

OnFailure: TypeAlias = Callable[[int, NoAnswerError, float], None]
"""Called after each failed attempt: its number, why it failed, how long until the next."""


def compute_delay(retry: Retry, attempt: int, rng: Random | None = None) -> float:
    """Return how long to wait after failed attempt number *attempt* (from 1)."""
    growth = 2 ** (attempt - 1) if retry.backoff == "exponential" else 1
    longest = retry.base_delay * growth
    return rng.uniform(0, longest) if retry.jitter and rng else longest


async def call_with_retry(
    call: Callable[[], Awaitable[T]],
    retry: Retry,
    on_failure: OnFailure = lambda attempt, error, wait: None,
    rng: Random | None = None,
) -> T:
    """Return what *call* returns, trying again after a failure that may pass."""
    for attempt in range(1, retry.attempts):
        try:
            return await call()
        except NoAnswerError as error:
            if not error.retryable:
                raise
            wait = compute_delay(retry, attempt, rng)
            on_failure(attempt, error, wait)
            await asyncio.sleep(wait)
    return await call()
