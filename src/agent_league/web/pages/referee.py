"""One referee: how many matches it led, how long they took, and what went wrong."""

from collections import Counter
from collections.abc import Sequence

from agent_league.protocol import Role
from agent_league.protocol.fields import parse_time
from agent_league.store.events import Event, MatchAssigned, MatchEnded
from agent_league.web.league_view import Data, LeagueView, list_matches
from agent_league.web.page import Arguments, Page
from agent_league.web.pages.agent import describe_entry, list_deviations, summarise_times

MOST_MATCHES = 2000
"""How many of the latest matches of the league are looked at."""
SHOWN = 50


async def load(view: LeagueView, arguments: Arguments) -> Data | None:
    entry = view.season.roster.get(arguments["referee_id"])
    if entry is None or entry.role is not Role.REFEREE:
        return None
    begun = [one.match.match_id for one in list_matches(view.season)][-MOST_MATCHES:]
    known = await view.records.read_events(begun)
    ended = [one for one in known if isinstance(one, MatchEnded)]
    own = [one for one in ended if one.referee_id == entry.agent_id]
    waiting = [
        given.match_id
        for given in view.season.assignments.values()
        if given.referee_id == entry.agent_id and given.match_id not in view.season.results
    ]
    return {
        **describe_entry(view, entry),
        "capacity": entry.capacity,
        "led": len(own),
        "statuses": dict(Counter(one.status for one in own)),
        "taken_away": _count_taken_away(entry.agent_id, known),
        "durations": summarise_times(_list_durations(own, known)),
        "playing": waiting,
        "deviations": list_deviations(view, entry.agent_id),
        "matches": [_describe_match(view, one) for one in own[: -SHOWN - 1 : -1]],
    }


def _list_durations(own: Sequence[MatchEnded], known: Sequence[Event]) -> list[float]:
    """Return the milliseconds from the order to the result, the shortest first."""
    begun = {one.match_id: one.at for one in known if isinstance(one, MatchAssigned)}
    took = (
        (parse_time(one.at) - parse_time(begun[one.match_id])).total_seconds() * 1000
        for one in own
        if one.match_id in begun
    )
    return sorted(took)


def _count_taken_away(referee_id: str, known: Sequence[Event]) -> int:
    """Return how many matches that it had were given to another referee."""
    last = {one.match_id: one.referee_id for one in known if isinstance(one, MatchAssigned)}
    had = {
        one.match_id
        for one in known
        if isinstance(one, MatchAssigned) and one.referee_id == referee_id
    }
    return sum(last[match_id] != referee_id for match_id in had)


def _describe_match(view: LeagueView, ended: MatchEnded) -> Data:
    first, second = ended.players
    return {
        "match_id": ended.match_id,
        "first": {"id": first, "name": view.name(first)},
        "second": {"id": second, "name": view.name(second)},
        "winner": ended.winner,
        "status": ended.status,
        "termination": ended.termination.replace("_", " "),
        "at": ended.at,
    }


page = Page("/referees/{referee_id}", "referee.html", "Referee", load)
