"""What a manager shows of its league while the league is run."""

from collections.abc import Callable

from agent_league.http.exchange import PageAnswer, PageRequest
from agent_league.season.season import Season
from agent_league.store import Event, EventLog
from agent_league.store.store import Store
from agent_league.web.league_view import LATEST, Data, LeagueView
from agent_league.web.records import Records, RememberedRecords, StoredRecords
from agent_league.web.site import LeagueSite, show_asset


class LiveSite:
    """The pages of a league that is run here; what happens appears in them at once."""

    def __init__(self, season: Season, log: EventLog, find_gauges: Callable[[], Data]) -> None:
        self._view = LeagueView(season, RememberedRecords(season))
        self._view.find_gauges = find_gauges
        self._log = log
        self._site = LeagueSite(self._view)
        log.listen(self._note, needs_all_events=False)

    def _note(self, event: Event) -> None:
        self._view.note(len(self._log), event)

    async def open(self, store: Store | None, *, aliases: bool = False) -> None:
        """Read from *store* what the season has not in memory."""
        view = self._view
        view.hides_names = aliases
        if store is None:
            return
        records: Records = StoredRecords(store, view.season.settings.league_id)
        view.records = records
        missing = LATEST - len(view.latest)
        first = view.latest[0][0] if view.latest else len(self._log) + 1
        if missing and first > 1:
            earlier = await records.read_log(max(0, first - 1 - missing), missing)
            view.latest.extendleft(
                (one.seq, one.event) for one in reversed(earlier) if one.seq < first
            )
        view.seq = len(self._log)

    def show(self, request: PageRequest) -> PageAnswer | None:
        """Answer a request; None if there is no page of that path."""
        return show_asset(request) or self._site.show(request)

    async def close(self) -> None:
        """Show everybody how the league ended, and end their streams."""
        await self._site.broadcast.finish()
