"""What an agent has to say of itself while it runs, and who hears it."""

import logging

from agent_league.vocabulary import Json

log = logging.getLogger("agent_league")


class Journal:
    """Tells warnings to whoever runs the agent, and keeps nothing; `sdk` has one that keeps."""

    detailed = False
    """Whether every message is worth a line."""

    def belongs_to(self, agent_id: str) -> None:
        """Learn whose journal this is, once the league has said how its owner is called."""

    def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
        """Keep what happened, if anything is kept."""

    def warn(self, event_type: str, message: str, **details: Json) -> None:
        """Keep what went wrong, and tell it at once."""
        log.warning("%s", message)
        self.note(event_type, "WARNING", message=message, **details)

    def flush(self) -> None:
        """Write what is only in memory yet; its owner asks for this about every second."""

    def close(self) -> None:
        """Let go of what was opened."""
