"""What time it is, handed in wherever it matters, so that a test owns the time."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Returns the present moment, in UTC."""

_TO_SECONDS = len("2025-01-15T10:30:00")


def system_clock() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the one place that asks the machine


def format_time(moment: datetime) -> str:
    """Return *moment* as the protocol writes it: `2025-01-15T10:30:00Z`."""
    return _format_second(int(moment.timestamp()))


def format_deadline(moment: datetime) -> str:
    """Return *moment* as the protocol writes it, rounded up: no deadline is shorter than promised."""
    return _format_second(ceil(moment.timestamp()))


def format_exact_time(moment: datetime) -> str:
    """Return *moment* as our own records have it: `2025-01-15T10:30:00.123Z`."""
    return _format_millisecond(int(moment.timestamp()), moment.microsecond // 1000)


@lru_cache(maxsize=64)  # many entries are written in one millisecond, and all agents share it
def _format_millisecond(timestamp: int, millisecond: int) -> str:
    return f"{_format_second(timestamp)[:-1]}.{millisecond:03}Z"


@lru_cache(maxsize=64)  # many messages are written in one second
def _format_second(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat()[:_TO_SECONDS] + "Z"
