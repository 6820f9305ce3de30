"""The traces of a league, computed from its record: a match is a trace, each call in it a span."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from agent_league.protocol import MESSAGES
from agent_league.protocol.fields import parse_time
from agent_league.protocol.tracing import make_root_id, make_span_id, make_trace_id
from agent_league.season.season import Season
from agent_league.store.events import MatchAssigned, MatchEnded
from agent_league.vocabulary import PlayerId
from agent_league.web.exchanges import Exchange

_SECOND = timedelta(seconds=1)
_EPOCH = parse_time("1970-01-01T00:00:00Z")


class Span(NamedTuple):
    """Something that took a time, in the words of OpenTelemetry."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    """None for the match itself."""
    began_ns: int
    ended_ns: int
    attributes: Mapping[str, str | int]
    error: str | None = None


def list_spans(
    season: Season, assigned: MatchAssigned | None, ended: MatchEnded, exchanges: Sequence[Exchange]
) -> list[Span]:
    """Return the match and its calls, as the agents were told about them by `traceparent`."""
    trace_id = make_trace_id(season.settings.league_id, ended.match_id)
    first, second = ended.players
    forfeits = [f"{player}: {why}" for player, why in ended.forfeits.items()]
    began = assigned.at if assigned else ended.at
    root = Span(
        "league_manager",
        f"match {ended.match_id}",
        trace_id,
        make_root_id(trace_id),
        None,
        _read_time(began),
        max(_read_time(began), _read_time(ended.at)),
        {
            "league.id": season.settings.league_id,
            "league.game": season.find_game(ended.match_id),
            "league.match_id": ended.match_id,
            "league.round_id": ended.round_id,
            "league.referee_id": ended.referee_id,
            "league.players": f"{first} {second}",
            "league.status": ended.status,
            "league.winner": ended.winner or "",
        },
        ", ".join(forfeits) or None,
    )
    return [root, *_list_calls(season, root, exchanges)]


def _list_calls(season: Season, root: Span, exchanges: Sequence[Exchange]) -> Iterator[Span]:
    """Yield a span for each message of the referee, from when it was sent to its answer."""
    waiting: dict[str, Exchange] = {}
    for one in exchanges:
        if one.sender.startswith("referee:"):
            if earlier := waiting.pop(one.receiver, None):
                yield _make_call(season, root, earlier, None)
            waiting[one.receiver] = one
        elif asked := waiting.pop(one.sender, None):
            yield _make_call(season, root, asked, one)
    for asked in waiting.values():
        yield _make_call(season, root, asked, None)


def _make_call(season: Season, root: Span, asked: Exchange, reply: Exchange | None) -> Span:
    player = asked.receiver.rpartition(":")[2]
    entry = season.roster.get(PlayerId(player))
    url = entry.endpoint if entry else player
    message = MESSAGES.get(asked.type)
    method = (message.route.tool if message else "") or asked.type
    has_failed = reply is not None and reply.kind == "error"
    return Span(
        asked.sender.replace("referee:", "referee_"),
        f"{method} {player}",
        root.trace_id,
        make_span_id(root.trace_id, url, asked.type, asked.attempt),
        root.span_id,
        _read_time(asked.at),
        _read_time(reply.at if reply else asked.at),
        {
            "rpc.system": "jsonrpc",
            "rpc.method": method,
            "server.address": url,
            "league.message_type": asked.type,
            "league.player_id": player,
            "league.attempt": asked.attempt,
        },
        reply.brief or "no answer" if reply and has_failed else None,
    )


def _read_time(at: str) -> int:
    """Return a time in nanoseconds since 1970; 0 if a referee reported no time."""
    try:
        return int((parse_time(at) - _EPOCH) / _SECOND * 1e6) * 1000
    except ValueError:
        return 0
