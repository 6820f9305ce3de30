"""What time it is, handed in wherever it matters, so that a test owns the time."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil
from time import time  # noqa: TID251 - the one place that asks the machine
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Returns the present moment, in UTC."""

_TO_SECONDS = len("2025-01-15T10:30:00")
_MOMENTS = 16
"""How many moments are remembered: a busy agent asks many times in one millisecond."""


def system_clock() -> datetime:
    """Return the present moment, to the millisecond."""
    return _make_moment(int(time() * 1000))


@lru_cache(maxsize=_MOMENTS)
def _make_moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


@lru_cache(maxsize=_MOMENTS)
def format_time(moment: datetime) -> str:
    """Return *moment* as the protocol writes it: `2025-01-15T10:30:00Z`."""
    return _format_second(int(moment.timestamp()))


def format_deadline(moment: datetime) -> str:
    """Return *moment* as the protocol writes it, rounded up: no deadline is shorter than promised."""
    return _format_second(ceil(moment.timestamp()))


@lru_cache(maxsize=_MOMENTS)
def format_exact_time(moment: datetime) -> str:
    """Return *moment* as our own records have it: `2025-01-15T10:30:00.123Z`."""
    second = _format_second(int(moment.timestamp()))
    return f"{second[:-1]}.{moment.microsecond // 1000:03}Z"


@lru_cache(maxsize=64)  # many messages are written in one second
def _format_second(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat()[:_TO_SECONDS] + "Z"
