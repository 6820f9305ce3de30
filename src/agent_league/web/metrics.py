"""What a monitoring system reads at `/metrics`. It is computed when it is asked for, not before.

Labels hold ids and words of ours, never names that others chose.
"""

from collections import Counter, deque
from collections.abc import Iterator

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
from agent_league.web.league_view import LeagueView, count_all_matches

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""The upper ends of the durations that are counted, in seconds."""


class LeagueMetrics:
    """The numbers of one league that is run here."""

    def __init__(self, view: LeagueView, ended: deque[tuple[str, str]]) -> None:
        self._view, self._ended = view, ended
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def show(self) -> Answer:
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
        yield self._measure_durations()
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
        ):
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

    def _measure_durations(self) -> Metric:
        """Count what has ended since the last time, and return the durations of all."""
        while self._ended:
            began, ended = self._ended.popleft()
            took = (parse_time(ended) - parse_time(began)).total_seconds()
            self._buckets[sum(took > edge for edge in BUCKETS)] += 1
            self._seconds += took
        total, pairs = 0, []
        for edge, count in zip((*map(str, BUCKETS), "+Inf"), self._buckets, strict=True):
            total += count
            pairs.append((edge, total))
        return HistogramMetricFamily(
            "league_match_duration_seconds",
            "From the order of a match to its result",
            buckets=pairs,
            sum_value=self._seconds,
        )
