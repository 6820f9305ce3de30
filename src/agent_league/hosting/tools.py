"""How the tools of a server are described to a caller."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from agent_league.hosting.terms import SeasonTerms, Terms
from agent_league.offer import ORGANISER, Caller, Schema, ToolCard
from agent_league.protocol.message import Result
from agent_league.vocabulary import Json

CallTool = Callable[[str, dict[str, Json], Caller], Result | Awaitable[Result]]
"""Calls the tool of that name of the league that is meant."""

_LEAGUE_ID = {
    "type": "string",
    "description": "The league, as list_leagues shows it; not needed if your token is of one league, "
    "or if there is only one.",
}
_TOKEN = {
    "type": "string",
    "description": "The server's token, unless it comes as Authorization: Bearer.",
}


def _make_input(kind: type[Terms]) -> Schema:
    (schema,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    terms: dict[str, Any] = parts[kind.__name__] if "$ref" in schema else schema
    return {
        "type": "object",
        "properties": {**terms["properties"], "auth_token": _TOKEN},
        "required": terms["required"],
    }


CREATE = partial(
    ToolCard,
    name="create_league",
    title="Create a league",
    description="Open a league of its own: its players, its referees, its organiser. The answer has "
    "the url at which agents join, and the organiser's token of the league, shown only now; then "
    "start_league begins it. Only for the staff of this server, with the server's token.",
    input_schema=_make_input(Terms),
    audience=frozenset({ORGANISER}),
)
OPEN_SEASON = partial(
    ToolCard,
    name="open_season",
    title="Open a season of divisions",
    description="Open the leagues of the next season of a competition with divisions: the first season, "
    "for which sizes are needed, or the one after the last, with those who went up and down. league_id "
    "is the competition; agents join with it, and get the division in which they play. Only for the "
    "staff of this server, with the server's token.",
    input_schema=_make_input(SeasonTerms),
    audience=frozenset({ORGANISER}),
)
LIST = partial(
    ToolCard,
    name="list_leagues",
    title="List the leagues",
    description="Read which leagues are run here, where agents join each, and how far it is. Needs no "
    "token and changes nothing.",
    read_only=True,
    idempotent=True,
)


def with_league_id(card: ToolCard, call_tool: CallTool) -> ToolCard:
    """Return the tool of a league as a server offers it: with the league among its arguments."""
    schema = card.input_schema
    properties = {**schema.get("properties", {}), "league_id": _LEAGUE_ID}
    return replace(
        card,
        input_schema={**schema, "properties": properties},
        call=partial(call_tool, card.name),
    )
