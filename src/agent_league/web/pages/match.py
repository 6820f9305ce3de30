"""One match: how it ended and why, and every message of it."""

from collections.abc import Sequence
from typing import Any

from agent_league.game import GAMES
from agent_league.protocol.fields import parse_time
from agent_league.protocol.requirements.rules import RULES
from agent_league.season import answers
from agent_league.store import events
from agent_league.store.events import Event, MatchAssigned, MatchEnded, ViolationNoted
from agent_league.vocabulary import PlayerId
from agent_league.web.drawing.sequence import LEAGUE
from agent_league.web.exchanges import Exchange, format_raw, make_curl, read_exchanges
from agent_league.web.league_view import Data, LeagueView, MatchLine, find_match
from agent_league.web.page import Arguments, Page


async def load(view: LeagueView, arguments: Arguments) -> Data | None:
    line = find_match(view.season, arguments["match_id"])
    if line is None:
        return None
    match_id = line.match.match_id
    known = await view.records.read_events([match_id])
    entries = (await view.records.read_transcripts([match_id])).get(match_id, [])
    line = find_match(view.season, match_id) or line  # it may have ended while we read
    return describe_match(view, line, known, entries)


def describe_match(
    view: LeagueView, line: MatchLine, known: Sequence[Event], entries: Sequence[dict[str, Any]]
) -> Data:
    """Return what the page of a match shows; nothing of its play before it is over."""
    match, season = line.match, view.season
    assigned = _find_last(known, MatchAssigned) or season.assignments.get(match.match_id)
    ended = _find_last(known, MatchEnded) or season.results.get(match.match_id)
    added = next((one for one in season.added if one.match_id == match.match_id), None)
    data: Data = {
        "match_id": match.match_id,
        "round_id": match.round_id,
        "first": _describe_side(view, line, match.first, ended),
        "second": _describe_side(view, line, match.second, ended),
        "status": line.status,
        "state": _name_state(line, assigned),
        "winner": line.winner,
        "referee": _describe_referee(view, assigned),
        "started_at": assigned and assigned.at,
        "ended_at": ended and ended.at,
        "replaces": added.replaces if added else None,
        **answers.describe_void(season, match.match_id),
        "is_one_move": GAMES[season.settings.game_type].turns == 1,
        "messages": [],
        "deviations": [],
        "details": {},
    }
    return data if ended is None else data | _describe_play(view, ended, known, entries, assigned)


def _find_last(known: Sequence[Event], kind: type[Any]) -> Any:
    return next((event for event in reversed(known) if isinstance(event, kind)), None)


def _name_state(line: MatchLine, assigned: MatchAssigned | None) -> str:
    if line.status != "SCHEDULED":
        return "over"
    return "being played" if assigned else "not begun"


def _describe_referee(view: LeagueView, assigned: MatchAssigned | None) -> Data | None:
    if assigned is None:
        return None
    return {"id": assigned.referee_id, "name": view.name(assigned.referee_id)}


def _describe_side(
    view: LeagueView, line: MatchLine, player: str, ended: MatchEnded | None
) -> Data:
    choices = ended.details.get("choices") if ended else None
    choice = choices.get(player) if isinstance(choices, dict) else None
    return {
        "id": player,
        "name": view.name(player),
        "mark": line.mark_for(player),
        "choice": choice,
        "forfeit": ended.forfeits.get(PlayerId(player)) if ended else None,
    }


def _describe_play(
    view: LeagueView,
    ended: MatchEnded,
    known: Sequence[Event],
    entries: Sequence[dict[str, Any]],
    assigned: MatchAssigned | None,
) -> Data:
    season = view.season
    players = [season.roster.get(player) for player in ended.players]
    has_guests = any(entry is not None and entry.guest for entry in players)
    patience = season.settings.patience_in(guests=has_guests)
    exchanges = read_exchanges(entries, patience, assigned.at if assigned else None)
    took = (
        (parse_time(ended.at) - parse_time(assigned.at)).total_seconds() * 1000
        if assigned
        else None
    )
    return {
        "termination": ended.termination.replace("_", " "),
        "reason": ended.details.get("reason"),
        "lanes": _name_lanes(view, ended),
        "details": {key: value for key, value in ended.details.items() if key != "choices"},
        "took_ms": took,
        "messages": [
            _describe_message(view, number, one) for number, one in enumerate(exchanges, 1)
        ],
        "deviations": [
            describe_deviation(view, event) for event in known if isinstance(event, ViolationNoted)
        ],
    }


def _name_lanes(view: LeagueView, ended: MatchEnded) -> dict[str, str]:
    """Return the headings of the diagram: the referee stands between its players."""
    first, second = ended.players
    return {
        LEAGUE: "League manager",
        f"player:{first}": view.name(first),
        f"referee:{ended.referee_id}": view.name(ended.referee_id),
        f"player:{second}": view.name(second),
    }


def _describe_message(view: LeagueView, number: int, exchange: Exchange) -> Data:
    receiver = view.season.roster.get(exchange.receiver.rpartition(":")[2])
    is_public = receiver is not None and not view.hides_names
    return {
        "number": number,
        **exchange._asdict(),
        "raw": format_raw(exchange.content),
        "curl": make_curl(exchange, receiver.endpoint) if receiver and is_public else None,
    }


def describe_deviation(view: LeagueView, noted: events.ViolationNoted) -> Data:
    """Return which rule was broken, and what the author of the agent does about it."""
    rule = RULES.get(noted.rule)
    return {
        "agent": {"id": noted.agent_id, "name": view.name(noted.agent_id)},
        "rule": noted.rule,
        "got": noted.got,
        "demand": rule.demand if rule else "",
        "fix": rule.fix if rule else "",
        "source": rule.source if rule else "",
    }


page = Page("/matches/{match_id}", "match.html", "Match", load)
