"""What happened last, in sentences."""

from collections.abc import Callable, Mapping
from typing import Any

from agent_league.store import events
from agent_league.store.events import Event
from agent_league.web.league_view import Data, LeagueView

SHOWN = 14


def list_news(view: LeagueView, shown: int = SHOWN) -> list[Data]:
    """Return the latest events that people want to know of, the latest first."""
    news: list[Data] = []
    for seq, event in reversed(view.latest):
        tell = _TELLERS.get(type(event))
        if tell is not None and len(news) < shown:
            news.append({"seq": seq, "at": event.at, **tell(view, event)})
    return news


def _tell_result(view: LeagueView, ended: events.MatchEnded) -> Data:
    first, second = ended.players
    agents = {"first": _agent(view, first), "second": _agent(view, second)}
    if ended.winner is None:
        text = "drew" if ended.status == "DRAW" else "both lost by a technical loss"
        return {"kind": "draw", "match_id": ended.match_id, "text": text, **agents}
    loser = second if ended.winner == first else first
    why = "" if ended.status == "WIN" else f" ({ended.termination.replace('_', ' ')})"
    pair = {"first": _agent(view, ended.winner), "second": _agent(view, loser)}
    return {"kind": "win", "match_id": ended.match_id, "text": f"won{why}", **pair}


def _agent(view: LeagueView, agent_id: str) -> dict[str, str]:
    return {"id": agent_id, "name": view.name(agent_id)}


def _tell(kind: str, text: str) -> Callable[[LeagueView, Any], Data]:
    return lambda view, event: {"kind": kind, "text": text.format(event)}


def _tell_of_agent(kind: str, text: str) -> Callable[[LeagueView, Any], Data]:
    return lambda view, event: {
        "kind": kind,
        "first": _agent(view, event.agent_id),
        "text": text.format(event),
    }


_TELLERS: Mapping[type[Event], Callable[[LeagueView, Any], Data]] = {
    events.MatchEnded: _tell_result,
    events.MatchVoided: lambda view, event: {
        "kind": "order",
        "match_id": event.match_id,
        "text": f"is void: {event.why}",
    },
    events.MatchAdded: lambda view, event: {
        "kind": "order",
        "match_id": event.match_id,
        "text": f"is played instead of {event.replaces}",
    },
    events.RoundOpened: _tell("round", "Round {0.round_id} began"),
    events.RoundClosed: _tell("round", "Round {0.round_id} is over"),
    events.SeasonOpened: _tell("round", "Registration is open"),
    events.SeasonStarted: _tell("round", "The league began"),
    events.SeasonEnded: _tell("round", "The league is over"),
    events.RegistrationSet: _tell("order", "Registration is {0.word}"),
    events.LeaguePaused: _tell("order", "Paused: no further match begins"),
    events.LeagueContinued: _tell("order", "Matches begin again"),
    events.EndOrdered: _tell("order", "Ended early: {0.why}"),
    events.AnnouncementMade: _tell("order", "Announced: {0.text}"),
    events.AgentRegistered: _tell_of_agent("agent", "joined"),
    events.AgentSuspended: _tell_of_agent("trouble", "is suspended: {0.why}"),
    events.AgentRecovered: _tell_of_agent("agent", "is back"),
    events.AgentDisqualified: _tell_of_agent("trouble", "is disqualified: {0.why}"),
    events.AgentReinstated: _tell_of_agent("agent", "takes part again"),
}
"""How each kind of event is told; the others are left to the log."""
