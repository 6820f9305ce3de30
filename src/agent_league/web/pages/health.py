"""Who answers, how fast, and how far behind the league is."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from agent_league.protocol import Role
from agent_league.protocol.fields import parse_time
from agent_league.season.roster import Entry, Lifecycle
from agent_league.store.events import MatchEnded
from agent_league.web.clocks import OUT_OF_STEP_S, compare_clocks, compare_referees
from agent_league.web.exchanges import Exchange, read_exchanges
from agent_league.web.league_view import Data, LeagueView, list_matches
from agent_league.web.page import Arguments, Page
from agent_league.web.pages.agent import summarise_times
from agent_league.web.records import Entry as Line
from agent_league.web.records import read_results

MEASURED = 300
"""How many of the latest matches are measured."""
SLOW_MS = 500.0
"""From here on a reply is slow, by the specification (003)."""
GOALS = {"round trip": SLOW_MS, "result kept": 5000.0}
_DOWN = {Lifecycle.SUSPENDED, Lifecycle.DISQUALIFIED}


async def load(view: LeagueView, arguments: Arguments) -> Data:
    season = view.season
    rounds = range(1, season.round_id + 1)
    recent = [one for one in list_matches(season, rounds[-40:]) if one.status != "SCHEDULED"]
    ids = [one.match.match_id for one in recent][-MEASURED:]
    results = await read_results(season, view.records, ids)
    transcripts = await view.records.read_transcripts(ids)
    exchanges = {
        match_id: read_exchanges(entries, season.settings.patience)
        for match_id, entries in transcripts.items()
    }
    return describe_health(view, results, exchanges, transcripts)


def describe_health(
    view: LeagueView,
    results: Mapping[str, MatchEnded],
    exchanges: Mapping[str, Sequence[Exchange]],
    transcripts: Mapping[str, Sequence[Line]],
) -> Data:
    """Return the health of every agent and of the league, by its latest matches."""
    season = view.season
    times, failures = _collect_times(exchanges)
    gauges = view.find_gauges() if view.find_gauges else {}
    unanswered = gauges.get("unanswered", {})
    last_seen = {player: ended.at for ended in results.values() for player in ended.players}
    last_seen |= {ended.referee_id: ended.at for ended in results.values()}
    clocks = {
        **compare_clocks(list(exchanges.values())),
        **compare_referees(transcripts, season.assignments, results),
    }
    every_time = sorted(time for one in times.values() for time in one)
    lags = sorted(_list_lags(results, transcripts))
    return {
        "agents": [
            _describe_agent(
                view,
                entry,
                sorted(times[f"{entry.role}:{entry.agent_id}"]),
                unanswered.get(entry.agent_id, 0),
                failures[f"{entry.role}:{entry.agent_id}"],
                last_seen.get(entry.agent_id),
            )
            | describe_clock(clocks.get(f"{entry.role}:{entry.agent_id}"))
            for entry in sort_entries(season.roster.of(Role.REFEREE, Role.PLAYER))
        ],
        "free_bytes": gauges.get("free"),
        "waiting_matches": gauges.get("waiting_matches"),
        "is_live": view.is_live,
        "measured": len(transcripts),
        "replies": summarise_times(every_time),
        "lag": summarise_times(lags),
        "timeouts": sum(failures.values()),
        "goals": _judge_goals(every_time, lags, sum(failures.values())),
    }


def sort_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Return agents in the order of their ids: referees first, P2 before P10."""
    return sorted(
        entries, key=lambda one: (one.role is Role.PLAYER, len(one.agent_id), one.agent_id)
    )


def describe_clock(offset: float | None) -> Data:
    """Return how far a clock is ahead, in seconds, and whether that is too much."""
    return {
        "clock_s": None if offset is None else round(offset, 1),
        "is_in_step": offset is None or abs(offset) < OUT_OF_STEP_S,
    }


def _collect_times(
    exchanges: Mapping[str, Sequence[Exchange]],
) -> tuple[Mapping[str, list[float]], Counter[str]]:
    """Return how long the replies of each agent took, and how many did not come."""
    times: dict[str, list[float]] = defaultdict(list)
    failures: Counter[str] = Counter()
    for messages in exchanges.values():
        for one in messages:
            if one.kind == "error":
                failures[one.sender] += 1
            elif one.took_ms is not None:
                times[one.sender].append(one.took_ms)
    return times, failures


def _list_lags(
    results: Mapping[str, MatchEnded], transcripts: Mapping[str, Sequence[Line]]
) -> list[float]:
    """Return the milliseconds from the last message of each match to its kept result."""
    return [
        max(0.0, (parse_time(results[one].at) - parse_time(lines[-1]["at"])).total_seconds() * 1000)
        for one, lines in transcripts.items()
        if lines and one in results
    ]


def _describe_agent(
    view: LeagueView,
    entry: Entry,
    times: Sequence[float],
    unanswered: int,
    failures: int,
    last_seen: str | None,
) -> Data:
    summary = summarise_times(times)
    is_slow = bool(times) and (summary["p95"] or 0) > SLOW_MS
    is_down = entry.state in _DOWN
    word = "over" if entry.state is Lifecycle.SHUTDOWN else "slow" if is_slow else "up"
    return {
        "id": entry.agent_id,
        "name": view.name(entry.agent_id),
        "role": entry.role,
        "health": "down" if is_down else word,
        "state": entry.state,
        "circuit": "open" if is_down else "closed",
        "unanswered": unanswered,
        "failures": failures,
        "last_seen": last_seen,
        **summary,
    }


def _judge_goals(times: Sequence[float], lags: Sequence[float], failures: int) -> list[Data]:
    """Return the goals of the specification, and whether the league reaches them now."""
    asked = len(times) + failures
    late = sum(time > GOALS["round trip"] for time in times)
    share = failures / asked if asked else 0.0
    return [
        {"goal": "replies within 500 ms", "value": f"{late} late", "is_met": not late},
        {
            "goal": "results kept within 5 s",
            "value": f"{lags[-1]:.0f} ms at most" if lags else "none yet",
            "is_met": not lags or lags[-1] < GOALS["result kept"],
        },
        {"goal": "timeouts under 5 %", "value": f"{share:.1%}", "is_met": share < 0.05},  # noqa: PLR2004 - the goal
    ]


page = Page("/health", "health.html", "Health", load, menu=(4, "Health"))
