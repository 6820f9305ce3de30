"""What a monitoring system reads at `/metrics`. It is computed when it is asked for, not before.

Labels hold ids and words of ours, never names that others chose.
"""

from collections import Counter, deque
from collections.abc import Iterator
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from agent_league.http.exchange import Answer
from agent_league.protocol import Role
from agent_league.protocol.fields import parse_time
from agent_league.web.call_times import CallTimes, Histogram
from agent_league.web.league_view import LeagueView, count_all_matches

Ended: TypeAlias = tuple[str, str, str]
"""A match that has ended: its id, when it was ordered, and when it ended."""


class LeagueMetrics:
    """The numbers of one league that is run here."""

    def __init__(self, view: LeagueView, ended: deque[Ended]) -> None:
        self._view, self._ended = view, ended
        self._matches = Histogram()
        self._calls = CallTimes(view.season.settings.patience)
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    async def show(self) -> Answer:
        """Measure the matches that have ended since the last time, and tell all numbers."""
        ended, ids = list(self._ended), []
        self._ended.clear()
        for match_id, ordered_at, ended_at in ended:
            took = (parse_time(ended_at) - parse_time(ordered_at)).total_seconds()
            self._matches.add(took)
            ids.append(match_id)
        await self._calls.measure(self._view.records, ids)
        return Answer(200, generate_latest(self._registry), CONTENT_TYPE_LATEST)

    def collect(self) -> Iterator[Metric]:
        """Yield every metric as it is now."""
        season = self._view.season
        results = CounterMetricFamily(
            "league_matches", "Matches by how they ended", labels=["result"]
        )
        for status in ("WIN", "DRAW", "TECHNICAL_LOSS"):
            results.add_metric([status.lower()], season.tally[status])
        yield results
        yield self._count_agents()
        yield self._count_technical_losses()
        yield self._count_violations()
        yield from self._list_durations()
        gauges = self._view.find_gauges() if self._view.find_gauges else {}
        for name, text, value in (
            ("league_round", "The round that is played", season.round_id),
            ("league_rounds", "Rounds of the season", season.total_rounds),
            ("league_scheduled_matches", "Matches of the season", count_all_matches(season)),
            (
                "league_queue_depth",
                "Matches that wait for a referee",
                gauges.get("waiting_matches", 0),
            ),
            ("league_events", "Events that have happened", self._view.seq),
            ("league_paused", "1 while no further match begins", int(season.paused)),
            ("league_disk_free_bytes", "Room left where the league is kept", gauges.get("free")),
        ):
            if value is not None:
                yield GaugeMetricFamily(name, text, value=value)

    def _count_agents(self) -> Metric:
        agents = GaugeMetricFamily(
            "league_agents", "Agents by role and state", labels=["role", "state"]
        )
        entries = self._view.season.roster.of(Role.REFEREE, Role.PLAYER)
        counts = Counter((str(one.role), one.state.lower()) for one in entries)
        for (role, state), count in sorted(counts.items()):
            agents.add_metric([role, state], count)
        return agents

    def _count_technical_losses(self) -> Metric:
        season = self._view.season
        losses = CounterMetricFamily(
            "league_technical_losses", "Matches lost without playing", labels=["agent"]
        )
        for player in season.players:
            losses.add_metric([player], season.row(player).technical_losses)
        return losses

    def _count_violations(self) -> Metric:
        broken = CounterMetricFamily(
            "league_violations", "Deviations from the protocol", labels=["agent", "rule"]
        )
        for (agent, rule), times in sorted(self._view.season.violations.items()):
            broken.add_metric([agent, rule], times)
        return broken

    def _list_durations(self) -> Iterator[Metric]:
        yield HistogramMetricFamily(
            "league_match_duration_seconds",
            "From the order of a match to its result",
            buckets=self._matches.list_buckets(),
            sum_value=self._matches.seconds,
        )
        calls = HistogramMetricFamily(
            "league_rpc_duration_seconds",
            "From a call of a referee to the answer of a player",
            labels=["message"],
        )
        for kind, times in sorted(self._calls.by_kind.items()):
            calls.add_metric([kind], times.list_buckets(), times.seconds)
        yield calls
        errors = CounterMetricFamily(
            "league_rpc_errors", "Calls without a usable answer", labels=["message"]
        )
        for kind, times_failed in sorted(self._calls.failures.items()):
            errors.add_metric([kind], times_failed)
        yield errors
        yield CounterMetricFamily(
            "league_unmeasured_matches",
            "Matches whose calls were not measured, because too many ended at once",
            value=self._calls.left_out,
        )
