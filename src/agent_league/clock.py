"""What time it is, handed in wherever it matters, so that a test owns the time."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Returns the present moment, in UTC."""

_TO_MILLISECONDS = len("2025-01-15T10:30:00.123")


def system_clock() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the one place that asks the machine


def format_time(moment: datetime) -> str:
    """Return *moment* as the protocol writes it: `2025-01-15T10:30:00.123Z`."""
    # Cut where the offset begins: a moment in UTC has none to speak of.
    return moment.isoformat("T", "milliseconds")[:_TO_MILLISECONDS] + "Z"
