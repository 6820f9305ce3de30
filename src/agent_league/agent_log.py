"""The log of an agent while it runs."""

import logging
from contextlib import suppress

from agent_league.printable import make_printable
from agent_league.vocabulary import Json

log = logging.getLogger("agent_league")


def _make_record_printable(record: logging.LogRecord) -> bool:
    """Replace what could control a terminal: much of what is logged comes from third parties."""
    with suppress(TypeError, ValueError):  # a text and its arguments may not fit
        record.msg, record.args = make_printable(record.getMessage()), ()
    return True


log.addFilter(_make_record_printable)


class AgentLog:
    """Logs warnings to the console and keeps nothing; `files` has a log that keeps its lines."""

    detailed = False
    """Whether every message is logged."""

    def set_owner(self, agent_id: str) -> None:
        """Use the id that the league gave the owner of this log."""

    def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
        """Keep an event, if this log keeps events."""

    def warn(self, event_type: str, message: str, **details: Json) -> None:
        """Show a warning on the console, and keep it as an event."""
        log.warning("%s", message)
        self.note(event_type, "WARNING", message=message, **details)

    def flush(self) -> None:
        """Write the events that are only in memory; called about every second."""

    def close(self) -> None:
        """Close the files of this log."""
