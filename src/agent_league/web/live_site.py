"""What a manager shows of its league while the league is run."""

from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from agent_league.http.exchange import Answer, PageAnswer, PageRequest
from agent_league.season.season import Season
from agent_league.store import Event, EventLog
from agent_league.store.events import MatchEnded
from agent_league.store.store import Store
from agent_league.web.league_view import LATEST, Data, LeagueView
from agent_league.web.records import Records, RememberedRecords, StoredRecords

if TYPE_CHECKING:  # templates and metrics are loaded when somebody looks
    from agent_league.web.metrics import Ended, LeagueMetrics
    from agent_league.web.site import LeagueSite

HOME = "/leagues"
"""The list of all leagues, where there are several."""
UNCOUNTED = 10_000
"""How many results may wait to be measured; beyond that the oldest are left out."""

WITH_NAMES = frozenset({"/status", "/record"})
"""What a manager tells programs, and what has the names of all players in it."""
HIDDEN = Answer(
    403, b'{"error":"this league hides the names of its players (--aliases)","see":"/live.json"}'
)


class LiveSite:
    """The pages of a league that is run here; what happens appears in them at once."""

    def __init__(
        self,
        season: Season,
        log: EventLog,
        find_gauges: Callable[[], Data],
        prefix: str = "",
        *,
        aliases: bool = False,
    ) -> None:
        """*prefix* is where the pages are, if other leagues have pages at the same address."""
        self._prefix = prefix
        self._remembered = RememberedRecords(season)
        self._view = LeagueView(season, self._remembered, aliases=aliases)
        self._view.find_gauges = find_gauges
        self._log = log
        self._ended: deque[Ended] = deque(maxlen=UNCOUNTED)
        """The matches that the metrics have not counted yet."""
        log.listen(self._note, needs_all_events=False)
        log.listen(self._note_end, MatchEnded, needs_all_events=False)

    def _note(self, event: Event) -> None:
        seq, view = len(self._log), self._view
        view.note(seq, event)
        if view.records is self._remembered:
            self._remembered.events.append(event)

    def _note_end(self, ended: MatchEnded) -> None:
        assigned = self._view.season.assignments.get(ended.match_id)
        if assigned is not None:
            self._ended.append((ended.match_id, assigned.at, ended.at))

    @cached_property
    def _site(self) -> "LeagueSite":
        from agent_league.web.site import LeagueSite  # noqa: PLC0415 - see above

        return LeagueSite(self._view, self._prefix, home=HOME if self._prefix else None)

    @cached_property
    def _metrics(self) -> "LeagueMetrics":
        from agent_league.web.metrics import LeagueMetrics  # noqa: PLC0415 - see above

        return LeagueMetrics(self._view, self._ended)

    async def open(self, store: Store | None) -> None:
        """Read from *store* what the season has not in memory."""
        view = self._view
        if store is None:
            return
        records: Records = StoredRecords(store, view.season.settings.league_id)
        view.records = records
        self._remembered.events.clear()
        missing = LATEST - len(view.latest)
        first = view.latest[0][0] if view.latest else len(self._log) + 1
        if missing and first > 1:
            earlier = await records.read_log(max(0, first - 1 - missing), missing)
            before = [(one.seq, one.event) for one in earlier if one.seq < first]
            view.latest.extendleft(reversed(before))
        view.seq = len(self._log)

    def show(self, request: PageRequest) -> PageAnswer | None:
        """Answer a request; None if there is no page of that path."""
        if request.path == "/metrics":
            return self._metrics.show()
        if self._view.hides_names and request.path in WITH_NAMES:
            return HIDDEN
        return self._site.show_any(request)

    async def close(self) -> None:
        """Show everybody how the league ended, and end their streams."""
        if "_site" in self.__dict__:  # somebody has looked
            await self._site.broadcast.finish()
            await self._view.followers.wait_for_requests()
