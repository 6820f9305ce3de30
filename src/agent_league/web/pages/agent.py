"""One player: its record, whom it met, what it chose, how fast it answered, what it should fix."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agent_league.protocol import Role
from agent_league.protocol.requirements.rules import RULES
from agent_league.protocol.results import Termination
from agent_league.season.roster import Entry
from agent_league.store.events import MatchEnded
from agent_league.vocabulary import PlayerId
from agent_league.web.exchanges import find_percentile, list_latencies
from agent_league.web.league_view import Data, LeagueView, MatchLine, list_matches
from agent_league.web.page import Arguments, Page
from agent_league.web.pages.live import list_standings
from agent_league.web.records import read_results

MOST_TRANSCRIPTS = 400
"""How many of the latest matches are measured."""


async def load(view: LeagueView, arguments: Arguments) -> Data | None:
    entry = view.season.roster.get(arguments["agent_id"])
    if entry is None or entry.role is not Role.PLAYER:
        return None
    player = entry.agent_id
    lines = [one for one in list_matches(view.season) if one.has(player)]
    ids = [one.match.match_id for one in lines if one.status != "SCHEDULED"]
    results = await read_results(view.season, view.records, ids)
    transcripts = await view.records.read_transcripts(ids[-MOST_TRANSCRIPTS:])
    patience = view.season.settings.patience_in(guests=entry.guest)
    times = list_latencies(transcripts.values(), f"player:{player}", patience)
    row = next((one for one in list_standings(view) if one["id"] == player), None)
    return describe_player(view, entry, Played(row, lines, results, times))


class Played(NamedTuple):
    """What is known of the matches of one player."""

    row: Data | None
    """Its row of the table."""
    lines: Sequence[MatchLine]
    results: Mapping[str, MatchEnded]
    times: Sequence[float]
    """How many milliseconds each of its answers took."""


def describe_player(view: LeagueView, entry: Entry, played: Played) -> Data:
    """Return everything that the page of a player shows."""
    player, results = entry.agent_id, played.results
    patience = view.season.settings.patience_in(guests=entry.guest)
    times = sorted(played.times)
    return {
        **describe_entry(view, entry),
        "row": played.row,
        "choices": _count_choices(player, results),
        "latency": {**summarise_times(times), "limit_ms": patience.move * 1000, "times": times},
        "timeouts": sum(
            ended.forfeits.get(PlayerId(player)) == Termination.TIMEOUT
            for ended in results.values()
        ),
        "technical_losses": sum(player in ended.technical_losses for ended in results.values()),
        "deviations": list_deviations(view, player),
        "rivals": _list_rivals(view, player, played.lines),
        "matches": [_describe_line(view, player, one, results) for one in reversed(played.lines)],
    }


def describe_entry(view: LeagueView, entry: Entry) -> Data:
    """Return what an agent said about itself; not all of it where names are hidden."""
    told = {
        "version": entry.version,
        "endpoint": entry.endpoint,
        "dialect": entry.dialect,
        "guest": entry.guest,
        "model": entry.model,
    }
    shown = {} if view.hides_names else told
    return {"id": entry.agent_id, "name": view.name(entry.agent_id), "state": entry.state, **shown}


def summarise_times(sorted_times: Sequence[float]) -> Data:
    """Return how fast somebody answers: in half of the cases, and in nearly all."""
    return {
        "count": len(sorted_times),
        "p50": find_percentile(sorted_times, 0.5),
        "p95": find_percentile(sorted_times, 0.95),
        "p99": find_percentile(sorted_times, 0.99),
        "longest": sorted_times[-1] if sorted_times else None,
    }


def list_deviations(view: LeagueView, agent_id: str) -> list[Data]:
    """Return the rules that an agent broke, how often, and the fix of each."""
    counts = view.season.violations_of(agent_id)
    found = [(RULES.get(rule), rule, times) for rule, times in counts.items()]
    return [
        {
            "rule": name,
            "times": times,
            "demand": rule.demand if rule else "",
            "fix": rule.fix if rule else "",
            "source": rule.source if rule else "",
        }
        for rule, name, times in sorted(found, key=lambda one: -one[2])
    ]


def _count_choices(player: str, results: Mapping[str, MatchEnded]) -> dict[str, int]:
    """Return how often a player chose what (in a game of many moves, its last one)."""
    counts: Counter[str] = Counter()
    for ended in results.values():
        choices = ended.details.get("choices")
        choice = choices.get(player) if isinstance(choices, dict) else None
        if choice is not None:
            counts[str(choice)[:40]] += 1
    return dict(counts.most_common(12))


def _list_rivals(view: LeagueView, player: str, lines: Sequence[MatchLine]) -> list[Data]:
    """Return how it went against each rival, the highest ranked first."""
    marks: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        if line.status != "SCHEDULED":
            pair = (line.match.match_id, line.mark_for(player))
            marks.setdefault(line.rival_of(player), []).append(pair)
    order = [row.player_id for row in view.season.standings()]
    names = view.names()
    return [
        {"id": rival, "name": names[rival], "marks": marks[rival]}
        for rival in order
        if rival in marks
    ]


def _describe_line(
    view: LeagueView, player: str, line: MatchLine, results: Mapping[str, MatchEnded]
) -> Data:
    ended = results.get(line.match.match_id)
    choices = ended.details.get("choices") if ended else None
    return {
        "match_id": line.match.match_id,
        "round_id": line.match.round_id,
        "rival": {"id": line.rival_of(player), "name": view.name(line.rival_of(player))},
        "mark": line.mark_for(player),
        "choice": choices.get(player) if isinstance(choices, dict) else None,
        "termination": ended.termination.replace("_", " ") if ended else None,
    }


page = Page("/agents/{agent_id}", "agent.html", "Agent", load, aliases=("/players/{agent_id}",))
