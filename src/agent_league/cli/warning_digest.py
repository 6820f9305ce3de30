"""Warnings of a league: one line for each peer and cause, and in the end how many there were."""

import logging
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from agent_league.agent_log import log

_VARYING = re.compile(r"\bR\d+M\d+\b|(?<![\w.])\d+(\.\d+)?")
"""What differs between warnings of one cause: matches, and numbers that are not part of an id."""


class WarningDigest(logging.Filter):
    """Lets the first warning of each peer and cause pass, and counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info:
            return True
        cause = _VARYING.sub("…", record.getMessage())
        self._seen[cause] += 1
        return self._seen[cause] == 1

    def list_counts(self) -> list[str]:
        """Return a line for each cause of which more than one warning came."""
        return [f"{count} times: {cause}" for cause, count in self._seen.items() if count > 1]


@contextmanager
def digest_warnings() -> Iterator[None]:
    """Print each warning once while the block runs, and how often it came at its end."""
    digest = WarningDigest()
    log.addFilter(digest)
    try:
        yield
    finally:
        log.removeFilter(digest)
        for line in digest.list_counts():
            print(line, file=sys.stderr)
