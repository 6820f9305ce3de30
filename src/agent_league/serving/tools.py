"""The tools of an agent: one for each message that it answers, and those that it declares."""

import inspect
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import NamedTuple

from agent_league.agent import Agent
from agent_league.dialects.meanings import find_kind
from agent_league.offer import NOBODY, Audience, Caller, Offer, Schema, ToolCard, ToolHandler
from agent_league.peers.endpoint import Endpoint, Handler, Tool
from agent_league.protocol import Message, Notice, ProtocolError, Request, Role, name, read_as
from agent_league.protocol.contracts import schemas
from agent_league.protocol.message import Result
from agent_league.vocabulary import Json

ENVELOPE = frozenset({"message_type", "protocol", "sender", "timestamp", "conversation_id"})
"""What a message may leave out when it comes as the arguments of an MCP tool."""
_ENVELOPE_NOTE = (
    " The envelope (message_type, protocol, sender, timestamp, conversation_id) may be left out."
)


class Wording(NamedTuple):
    """How a tool that is a message is described to a model."""

    title: str
    text: str
    read_only: bool = False
    idempotent: bool = True


@dataclass(frozen=True)
class Served:
    """An agent and all that it answers, as the parts of its server need it."""

    agent: Agent
    offer: Offer
    handlers: Mapping[type[Message], Handler]

    @cached_property
    def endpoint(self) -> Endpoint:
        """What answers the messages of the league protocol."""
        return Endpoint(self.handlers, self.league_tools, self.agent)

    @property
    def name(self) -> str:
        return f"agent-league {self.agent.role}"

    @cached_property
    def tools(self) -> Mapping[str, ToolCard]:
        """Every tool, by name and in that order."""
        optional = ENVELOPE.union(self.offer.supply(None))
        message_cards = [
            _make_message_card(kind, _make_message_call(kind, handler, self), optional)
            for kind, handler in self.handlers.items()
            if kind.route.tool  # a reply that is posted as a request has no tool
        ]
        cards = [*message_cards, *self.offer.tools]
        tools = {card.name: card for card in sorted(cards, key=lambda card: card.name)}
        if len(tools) < len(cards):
            raise ValueError("two tools have the same name")
        return tools

    def find_tool(self, tool: str) -> ToolCard | None:
        """Return the tool that is called *tool*, or whose message that name means."""
        kind = None if tool in self.tools else find_kind(tool, self.handlers.keys())
        return self.tools.get(kind.route.tool if kind else tool)

    def list_for(self, roles: Audience) -> list[ToolCard]:
        """Return the tools that are listed to a caller with *roles*."""
        return [
            card
            for card in self.tools.values()
            if card.audience is None or not card.audience.isdisjoint(roles)
        ]

    @property
    def league_tools(self) -> dict[str, Tool]:
        """The tools that are not messages, as the league protocol calls them."""
        return {card.name: partial(_call_without_header, card) for card in self.offer.tools}


def _make_message_card(
    kind: type[Message], call: ToolHandler, optional: frozenset[str]
) -> ToolCard:
    reply = name(kind.reply) if issubclass(kind, Request) else "ACKNOWLEDGEMENT"
    title = kind.route.tool.replace("_", " ").capitalize()
    plain = Wording(title, inspect.getdoc(kind) or title, idempotent=issubclass(kind, Notice))
    wording = WORDINGS.get(kind.route.tool, plain)
    # Whoever sends the other notices knows them from the protocol; a model has no use for them.
    is_described = wording is not plain or not issubclass(kind, Notice)
    return ToolCard(
        name=kind.route.tool,
        title=wording.title,
        description=wording.text + _ENVELOPE_NOTE,
        call=call,
        input_schema=_make_schema(name(kind), optional),
        output_schema=_make_schema(reply),
        read_only=wording.read_only,
        idempotent=wording.idempotent,
        message=kind,
        audience=frozenset(kind.route.sender) if is_described else NOBODY,
    )


def _make_message_call(kind: type[Message], handler: Handler, served: Served) -> ToolHandler:
    agent, supply = served.agent, served.offer.supply
    role = kind.route.sender[0]
    sender = role if role is Role.LEAGUE else f"{role}:mcp"

    def call(arguments: dict[str, Json], caller: Caller) -> Result | Awaitable[Result]:
        token = caller.choose_token(arguments)
        fields: dict[str, Json] = {
            **agent.envelope(f"conv-mcp-{kind.route.tool}"),
            "sender": sender,
            **supply(token if isinstance(token, str) else None),
        }
        if token is not None:
            fields["auth_token"] = token
        given = {**fields, **_leave_out_null_token(arguments)}
        try:
            message = read_as(kind, {"message_type": name(kind), **given})
        except ProtocolError:
            answer = served.endpoint.interpret(kind, given, caller.tool or kind.route.tool)
            if answer is None:
                raise
            return answer
        renamed = served.endpoint.interpret(kind, given, caller.tool) if caller.tool else None
        return renamed or handler(message)

    return call


@cache
def _make_schema(message_type: str, optional: frozenset[str] = frozenset()) -> Schema:
    """Return the schema of a message of which the *optional* fields may be left out.

    It has no `$id`, because a client that knows two schemas of one id refuses the second.
    """
    schema = {key: value for key, value in schemas()[message_type].items() if key != "$id"}
    required = [field for field in schema.get("required", ()) if field not in optional]
    return {**schema, "required": required}


def _leave_out_null_token(arguments: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return *arguments*; a model that has no token writes null, and sends it as the bearer."""
    if arguments.get("auth_token", "") is None:
        return {key: value for key, value in arguments.items() if key != "auth_token"}
    return arguments


def _call_without_header(card: ToolCard, arguments: dict[str, Json]) -> Result | Awaitable[Result]:
    token = arguments.get("auth_token")
    return card.call(arguments, Caller(token if isinstance(token, str) else None))


WORDINGS: Mapping[str, Wording] = {
    "register_player": Wording(
        "Register a player",
        "Ask the league to admit a player. player_meta needs display_name, version (as 1.0.0), "
        "game_types (as ['even_odd']) and contact_endpoint, the http address of the player's "
        "own /mcp, which referees will call. The answer has status ACCEPTED with player_id and "
        "auth_token (keep it: every later call needs it), or REJECTED with the reason.",
        idempotent=False,
    ),
    "register_referee": Wording(
        "Register a referee",
        "Ask the league to give matches to a referee. referee_meta is as player_meta, with "
        "max_concurrent_matches (1 to 10). The answer has status ACCEPTED with referee_id and "
        "auth_token, or REJECTED with the reason.",
        idempotent=False,
    ),
    "league_query": Wording(
        "Ask the league",
        "Ask one of four questions, as a registered agent (auth_token): GET_STANDINGS, "
        "GET_SCHEDULE (query_params may hold round_id), GET_NEXT_MATCH and GET_PLAYER_STATS "
        "(query_params must hold player_id). query_params is an object, {} if it is not "
        "needed. Changes nothing. Without a token, call get_standings instead.",
        read_only=True,
    ),
    "report_match_result": Wording(
        "Report a result",
        "For referees: tell the league how a match that it gave you ended, with the ticket "
        "that came with START_MATCH. Reporting it again changes nothing.",
    ),
    "report_transcript": Wording(
        "Hand in a part of a transcript",
        "For referees: hand in the messages of a match, in numbered parts, before its "
        "result is reported.",
    ),
    "start_match": Wording(
        "Start a match",
        "For the league: give a match to this referee, signed with a ticket that only the "
        "league can write. With auto false the match waits to be stepped by collect_choices, "
        "draw_number and finalize_match.",
    ),
    "handle_game_invitation": Wording(
        "Invite the player to a match",
        "For referees: offer this player a seat in a match. The answer says whether it takes "
        "the seat (accept).",
    ),
    "choose_parity": Wording(
        "Ask for a parity",
        "For referees: ask this player to call 'even' or 'odd' for a match of Even/Odd before "
        "the deadline; the answer has parity_choice. A second call for the same match "
        "gets the same answer.",
    ),
    "choose_move": Wording(
        "Ask for a move",
        "For referees: ask this player to move in any other game. view is what its seat may "
        "see, legal_moves what it may choose from; the answer has move.",
    ),
    "notify_match_result": Wording(
        "Tell how a match ended",
        "For referees: tell this player how its match ended, so that it can learn from it. "
        "A second notice changes nothing.",
    ),
}
"""The tools whose message has a docstring that is too short for a model."""
