"""What a simulated league has used, and what of its machines was scarce."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

ROWS_PER_MATCH = 3
"""Assigned, ended, and its messages."""
ROWS_PER_ROUND = 2
LONGEST_TABLE_AGE = 5.0
"""Seconds; the protocol lets no table that is sent be older."""
FULL = 0.9
"""The share of a processor or a line from which on everything waits for it."""


class Limit(NamedTuple):
    """Something that there is only so much of."""

    name: str
    used: float
    """The share that was used, or how many times as much as allowed."""
    advice: str
    effect: str = "sets the pace"
    """What happens when all of it is used."""


@dataclass
class Tally:
    """Counts of one simulated league, from its first round to its last notice."""

    calls: Counter[str] = field(default_factory=Counter[str])
    """Requests, each of which has a reply, by kind."""
    matches: int = 0
    rounds: int = 0
    forfeits: int = 0
    ended_at: float = 0.0
    slot_s: float = 0.0
    """Seconds that matches were with referees, added up."""
    most_at_once: int = 0
    manager_s: float = 0.0
    pairing_s: float = 0.0
    """The part of the manager's seconds in which rounds were drawn; measured, not computed."""
    referee_s: float = 0.0
    store_s: float = 0.0
    manager_bytes: float = 0.0
    referee_bytes: float = 0.0
    table_age_s: float = 0.0
    """The longest time from a result until everybody had a table with it."""

    @property
    def rows(self) -> int:
        return ROWS_PER_MATCH * self.matches + ROWS_PER_ROUND * self.rounds

    @property
    def messages(self) -> int:
        """Requests and replies."""
        return 2 * self.calls.total()
