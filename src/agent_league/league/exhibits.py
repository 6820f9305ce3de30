"""What the league shows to whoever speaks MCP: what to read, and what changes when."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from agent_league.league import answers
from agent_league.league.season import Season
from agent_league.mcp.offer import Changes, Resource, Template
from agent_league.mcp.rules import rules_resources
from agent_league.mcp.tools import Schema, ToolCard
from agent_league.protocol import MESSAGES, ProtocolError, Role
from agent_league.protocol.schema import schemas
from agent_league.store.events import (
    AgentRecovered,
    AgentRegistered,
    AgentSuspended,
    Event,
    LeagueContinued,
    LeaguePaused,
    MatchEnded,
    MatchVoided,
    RoundClosed,
    RoundOpened,
    SeasonEnded,
    SeasonStarted,
)
from agent_league.vocabulary import Json

SECRET = {"seed"}
"""What everybody could foresee the draws from."""

STANDINGS, SCHEDULE, STATUS = "league://standings", "league://schedule", "league://status"

Transcripts = Callable[[str], Awaitable[Json | None]]

STANDINGS_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "round_id": {"type": "integer"},
        "standings": {
            "type": "array",
            "items": {"type": "object", "required": ["rank", "player_id", "points"]},
        },
    },
    "required": ["round_id", "standings"],
}


def get_standings(season: Season) -> ToolCard:
    return ToolCard(
        name="get_standings",
        title="Get the standings",
        description="The whole table of the league, best first: rank, player_id, display_name, "
        "played, wins, draws, losses, points; and the round that is being played. For everybody, "
        "no token needed. Changes nothing.",
        call=lambda arguments, caller: answers.standings(season, {}),
        output_schema=STANDINGS_SCHEMA,
        read_only=True,
        idempotent=True,
    )


def resources(season: Season) -> Sequence[Resource]:
    return (
        Resource(
            STANDINGS,
            "standings",
            "The table, best first; subscribe to hear when it changes.",
            lambda: answers.standings(season, {}),
        ),
        Resource(
            SCHEDULE,
            "schedule",
            "Every round, its matches and how they ended.",
            lambda: answers.schedule(season, {}),
        ),
        Resource(
            STATUS,
            "status",
            "Where the league stands, and who takes part.",
            lambda: answers.status(season),
        ),
        Resource(
            "league://config",
            "configuration",
            "How the league is run: scoring, patience, retries; no secrets.",
            lambda: _config(season),
        ),
        Resource(
            "league://schemas",
            "message schemas",
            "The JSON Schema of every message of the protocol.",
            schemas,
        ),
        *rules_resources([season.settings.game_type]),
    )


def templates(season: Season, transcript: Transcripts) -> Sequence[Template]:
    return (
        Template(
            "league://rounds/{round_id}",
            "round",
            "One round: its matches and how they ended.",
            lambda given: _round(season, given["round_id"]),
            known={"round_id": lambda: [str(n) for n in range(1, season.total_rounds + 1)]},
        ),
        Template(
            "league://matches/{match_id}",
            "match",
            "The record of a match that has ended: who played, who won and why.",
            lambda given: match_record(season, given["match_id"]),
            known={"match_id": lambda: list(season.results)},
        ),
        Template(
            "league://matches/{match_id}/transcript",
            "transcript",
            "What was said in a match that has ended, message by message.",
            lambda given: transcript(given["match_id"]),
            known={"match_id": lambda: list(season.results)},
        ),
        Template(
            "league://players/{player_id}",
            "player",
            "A player's record: rank, results, matches.",
            lambda given: _player(season, given["player_id"]),
            known={"player_id": lambda: [e.agent_id for e in season.roster.of(Role.PLAYER)]},
        ),
        Template(
            "league://schemas/{message_type}",
            "message schema",
            "The JSON Schema of one message, such as GAME_INVITATION.",
            lambda given: schemas().get(given["message_type"]),
            known={"message_type": lambda: list(MESSAGES)},
        ),
    )


def _config(season: Season) -> Json:
    told: dict[str, Any] = msgspec.to_builtins(season.settings)
    return {key: value for key, value in told.items() if key not in SECRET}


def _round(season: Season, round_id: str) -> Json | None:
    if not round_id.isdecimal() or not 1 <= int(round_id) <= season.total_rounds:
        return None
    return answers.schedule(season, {"round_id": int(round_id)})["rounds"][0]


def _player(season: Season, player_id: str) -> Json | None:
    try:
        return answers.player_stats(season, {"player_id": player_id})
    except ProtocolError:
        return None


def match_record(season: Season, match_id: str) -> Json | None:
    """Return what is known of a match that has ended, if its result is at hand."""
    ended = season.results.get(match_id)
    if ended is None:
        return None
    told: dict[str, Any] = msgspec.to_builtins(ended)
    del told["event"]
    return {**told, "voided": match_id in season.voided}


def _of_match(event: Any) -> Iterator[str]:
    yield from (STANDINGS, SCHEDULE, STATUS)
    yield f"league://rounds/{event.round_id}"
    yield f"league://matches/{event.match_id}"
    yield from (f"league://players/{player}" for player in event.players)


def _of_round(event: Any) -> Iterator[str]:
    yield from (SCHEDULE, STATUS, f"league://rounds/{event.round_id}")


def _of_agent(event: Any) -> Iterator[str]:
    yield from (STATUS, f"league://players/{event.agent_id}")


def _of_league(event: Any) -> Iterator[str]:
    yield from (STANDINGS, SCHEDULE, STATUS)


_TOUCHED: Mapping[type[Event], Callable[[Any], Iterator[str]]] = {
    MatchEnded: _of_match,
    MatchVoided: _of_match,
    RoundOpened: _of_round,
    RoundClosed: _of_round,
    AgentRegistered: _of_agent,
    AgentSuspended: _of_agent,
    AgentRecovered: _of_agent,
    SeasonStarted: _of_league,
    SeasonEnded: _of_league,
    LeaguePaused: _of_league,
    LeagueContinued: _of_league,
}


def telling(changes: Changes) -> Callable[[Event], None]:
    """Return a listener that tells which resources an event has changed."""

    def heard(event: Event) -> None:
        touched = _TOUCHED.get(type(event))
        if touched is not None and changes.heard:
            for uri in touched(event):
                changes.tell(uri)

    return heard
