"""The logs of agents, and of the command that runs a league: a file for each."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from agent_league.journal import Journal
from agent_league.protocol import LeagueError
from agent_league.sdk.logger import LEVELS, ORCHESTRATOR, JsonLogger
from agent_league.vocabulary import Json

log = logging.getLogger("agent_league")
Level: TypeAlias = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
MAX_BYTES = 4 * 1024 * 1024
"""What a log may hold before it makes room: there may be a thousand agents."""


class KeptJournal(Journal):
    """Writes what is noted into the log of *component*, from *level* upwards.

    Nothing that goes wrong with a file ever reaches the agent: without a log it plays on.
    """

    def __init__(
        self, component: str, log_root: Path, level: Level = "INFO", *, timed: bool = False
    ) -> None:
        self._root = log_root
        self._timed = timed
        self._worthy = frozenset(LEVELS[LEVELS.index(level) :])
        self.detailed = level == "DEBUG"
        self._logger = _logger(component, log_root, timed=timed)

    def belongs_to(self, agent_id: str) -> None:
        if self._logger is not None and self._logger.component != agent_id:
            self._logger.close()
            self._logger = _logger(agent_id, self._root, timed=self._timed)

    def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
        if self._logger is not None and level in self._worthy:
            self._logger.log(event_type, level, **details)

    def flush(self) -> None:
        if self._logger is not None:
            self._logger.flush()

    def close(self) -> None:
        if self._logger is not None:
            self._logger.close()


def _logger(component: str, log_root: Path, *, timed: bool) -> JsonLogger | None:
    try:
        return JsonLogger(component, log_root=log_root, max_bytes=MAX_BYTES, timed=timed)
    except LeagueError as error:
        log.warning("%s keeps no log: %s", component, error)
        return None


@dataclass(frozen=True)
class Journals:
    """Where journals are kept, and how much of what happens; nowhere without a *log_root*."""

    log_root: Path | None = None
    level: Level = "INFO"

    def of(self, agent_id: str) -> Journal:
        return KeptJournal(agent_id, self.log_root, self.level) if self.log_root else Journal()

    def of_the_orchestrator(self) -> Journal:
        root = self.log_root
        return KeptJournal(ORCHESTRATOR, root, self.level, timed=True) if root else Journal()
