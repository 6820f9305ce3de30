"""The log of the command that runs a league: what it did, and how that ended."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

from agent_league.journal import Journal
from agent_league.league import LeagueManager
from agent_league.sdk.journals import Journals
from agent_league.store import Event
from agent_league.store.events import FarewellSaid, SeasonEnded, SeasonStarted
from agent_league.vocabulary import Json

_TURNS: Mapping[type[Event], str] = {
    SeasonStarted: "LEAGUE_BEGUN",
    SeasonEnded: "LEAGUE_ENDED",
    FarewellSaid: "LEAGUE_DRAINED",
}
"""What is worth a line here; everything else is in the league's own log."""


class Orchestration(AbstractContextManager[Journal]):
    """Lends the orchestrator's journal to a context, and notes how that ended, if it did badly."""

    def __init__(self, logs: Path | None, league_id: str) -> None:
        self._journal = Journals(logs).of_the_orchestrator()
        self._league_id = league_id

    def __enter__(self) -> Journal:
        return self._journal

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._journal.note("LEAGUE_INTERRUPTED", "WARNING", league_id=self._league_id)
        elif error is not None:
            details: dict[str, Json] = {"league_id": self._league_id, "error": repr(error)}
            self._journal.note("LEAGUE_FAILED", "ERROR", **details)
        self._journal.close()


def follow(manager: LeagueManager, journal: Journal) -> None:
    """Note what becomes of a league that has just been opened, or taken up where it stopped."""
    season, league_id = manager.season, manager.settings.league_id
    resumed = bool(season.roster.entries())
    opened = "LEAGUE_RESUMED" if resumed else "LEAGUE_OPENED"
    journal.note(opened, league_id=league_id, seed=manager.settings.seed, matches=season.played)

    def noted(event: Event) -> None:
        turn = _TURNS.get(type(event))
        if turn is not None:
            journal.note(turn, league_id=league_id, matches=season.played)

    manager.events.listen(noted)
