"""What one thing costs, as it was measured: `make bench-costs` writes costs.json."""

from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from agent_league.protocol import LeagueError


class CostsError(LeagueError):
    """A file of costs cannot be read."""


class Costs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Seconds of CPU, bytes and megabytes; every number can be replaced."""

    measured: str
    """Where and when the numbers come from."""
    manager_match_s: float
    """The manager's CPU for one match: order, report, events."""
    manager_notice_s: float
    """For one notice to one agent."""
    manager_byte_s: float
    """For each byte of a notice."""
    probe_s: float
    """For one look whether an agent still listens."""
    referee_match_s: float
    """The referee's CPU for a match of one turn."""
    referee_turn_s: float
    """For every further turn."""
    player_match_s: float
    """The CPU of both players for a match of one turn; they run elsewhere."""
    store_match_s: float
    """What PostgreSQL needs for the rows of a match; SQLite's part is in the manager's."""
    commit_s: float
    """From a result to its acknowledgement: one commit, which many results share."""
    match_bytes: int
    """What the manager sends and receives for a match."""
    referee_bytes: int
    """What a referee sends and receives for a match of one turn."""
    notice_bytes: int
    """A notice without a table, and its reply."""
    table_row_bytes: int
    """One row of a table that is sent."""
    stored_bytes: int
    """What a match takes in the store, with its messages."""
    manager_mb: float
    """A manager without players."""
    manager_player_kb: float
    manager_match_kb: float
    """A match that is kept in memory: those of the last round."""
    referee_mb: float
    referee_match_kb: float
    """A match that is being played."""
    latency_s: float = 0.0005
    """From one machine to another and back."""


def load_costs(path: Path | None = None) -> Costs:
    """Return the costs in a file, or those that come with the package."""
    source = path or files(__package__) / "costs.json"
    try:
        return msgspec.json.decode(source.read_bytes(), type=Costs)
    except OSError as error:
        raise CostsError(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise CostsError(f"{path} holds no costs: {error}") from error
