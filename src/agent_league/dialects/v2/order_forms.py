"""Other forms than START_MATCH in which our league orders third-party referees to play a match.

The players of such a match cannot be shown a ticket by a referee that knows none: it is in the
query of their endpoints, which a referee of this kind calls as it got them.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import urlencode, urlsplit

import msgspec

from agent_league.dialects.v2.words import Body
from agent_league.http.exchange import Answer
from agent_league.protocol import Role, jsonrpc
from agent_league.protocol.failures import NoAnswerError
from agent_league.vocabulary import Json

Get: TypeAlias = Callable[[str, float], Awaitable[Answer]]
"""Returns what is at a URL, or raises `NoAnswerError` within so many seconds."""
SENDER: Final = f"{Role.LEAGUE}:LM01"
ORDER_NAMES: Final = ("run_match", "start_match", "assign_match", "match_assignment")
"""What the tool, the method or the path of an order is called."""
ECHO: Final = "~"
"""Stands between a round and the ticket of the match, where a referee repeats both to the league."""
_OWN_FIELDS = ("ticket", "seed", "options", "patience", "retry", "transcript", "auto", "strictness")
_encode = msgspec.json.Encoder().encode


class OrderForm(NamedTuple):
    """One way to order a match: what is posted, and to which path if that is not the endpoint."""

    id: str
    write: Callable[[Body, int], bytes]
    path: str | None = None
    """Where the order is posted, with its fields in the query; empty: the path is looked up."""
    is_tool_call: bool = False
    """Whether the method is `tools/call`, whose result wraps what the tool returns."""


def format_match(order: Body) -> Body:
    """Return the match in all the shapes that third-party referees look for."""
    players = [_format_player(player, order) for player in order["players"]]
    shapes: Body = {"sender": SENDER, "players": players}
    shapes["player_endpoints"] = {one["player_id"]: one["endpoint"] for one in players}
    for names, player in zip((("_A", "_a", "1"), ("_B", "_b", "2")), players, strict=True):
        for seat in names:
            shapes[f"player{seat}_id"] = player["player_id"]
            shapes[f"player{seat}_endpoint"] = player["endpoint"]
        shapes[f"player{names[-1]}"] = player
    rest = {key: value for key, value in order.items() if key not in (*_OWN_FIELDS, "auth_token")}
    return {**rest, **shapes}


def _format_player(player: Body, order: Body) -> Body:
    who, ticket = player["player_id"], player["ticket"]
    proof = {"match_id": order["match_id"], "conversation_id": order["conversation_id"]}
    endpoint = add_query(player["endpoint"], {**proof, "auth_token": ticket})
    return {"player_id": who, "display_name": who, "version": "1.0.0", "endpoint": endpoint}


def add_query(url: str, fields: Mapping[str, Json]) -> str:
    """Return *url* with *fields* in its query."""
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(fields)}"


_FEW_FIELDS = ("match_id", "round_id", "league_id", "game_type")


def format_briefly(order: Body) -> Body:
    """Return the match with each thing once, for a referee that refuses what it does not know."""
    match = format_match(order)
    seats = [f"player_{seat}_{field}" for seat in "AB" for field in ("id", "endpoint")]
    return {key: match[key] for key in (*_FEW_FIELDS, *seats)}


def _format_assignment(order: Body) -> Body:
    return {**format_match(order), "message_type": "MATCH_ASSIGNMENT"}


def _format_announcement(order: Body) -> Body:
    match = format_match(order)
    match_keys = {"match_id", "game_type", "players"}
    match_keys |= {key for key in match if key.startswith("player")}
    entry = {key: match[key] for key in match if key in match_keys}
    rest = {key: match[key] for key in match if key not in match_keys}
    entry["referee_endpoint"] = order.get("referee_endpoint", "")
    return {**rest, "message_type": "ROUND_ANNOUNCEMENT", "matches": [entry]}


def _by_method(form_id: str, method: str, format_params: Callable[[Body], Body]) -> OrderForm:
    def write(order: Body, number: int) -> bytes:
        return jsonrpc.encode_call(method, _encode(format_params(order)), number)

    return OrderForm(form_id, write)


def _by_tool(tool: str, format_arguments: Callable[[Body], Body]) -> OrderForm:
    def format_call(order: Body) -> Body:
        return {"name": tool, "arguments": format_arguments(order)}

    form = _by_method(f"tools/call {tool}", "tools/call", format_call)
    return form._replace(is_tool_call=True)


def _by_path(path: str) -> OrderForm:
    return OrderForm("an HTTP path", lambda order, number: b"", path)


ORDER_FORMS: Sequence[OrderForm] = (
    _by_method("START_MATCH", "START_MATCH", format_match),
    _by_tool("start_match", format_match),
    _by_tool("start_match", format_briefly),
    _by_method("MATCH_ASSIGNMENT", "MATCH_ASSIGNMENT", _format_assignment),
    _by_method(
        "run_match", "run_match", lambda o: {**format_match(o), "message_type": "RUN_MATCH"}
    ),
    _by_method("assign_match", "assign_match", _format_assignment),
    *map(_by_path, ("", "/admin/run_match", "/run_match", "/start_match")),
    _by_method("ROUND_ANNOUNCEMENT", "ROUND_ANNOUNCEMENT", _format_announcement),
    _by_method("ROUND_ANNOUNCEMENT", "notify_round", _format_announcement),
)
"""The other forms that a referee is tried with, in this order."""


def locate_order(url: str, path: str, order: Body) -> str:
    """Return where *order* is posted to a referee at *url* that takes orders at *path*.

    The ticket stands behind the round, which such a referee repeats to the league alone.
    """
    match = format_match(order)
    fields = {key: value for key, value in match.items() if isinstance(value, (str, int))}
    fields["round_id"] = f"R{order['round_id']}{ECHO}{order['ticket']}"
    return add_query(url.removesuffix("/").removesuffix("/mcp") + path, fields)


async def find_order_path(url: str, get: Get, within: float) -> str | None:
    """Return the path at which the server at *url* says that it takes orders; None if it does not."""
    base = url.removesuffix("/").removesuffix("/mcp")
    try:
        answer = await get(f"{base}/openapi.json", within)
        paths = msgspec.json.decode(answer.body)["paths"]
        names = [path for path, methods in paths.items() if "post" in methods]
    except (NoAnswerError, msgspec.DecodeError, LookupError, TypeError, AttributeError):
        return None
    return next((path for path in names if is_order_path(path)), None)


def is_order_path(path: str) -> bool:
    """Whether the last step of *path* is the name of an order."""
    return re.sub(r"[^a-z]+", "_", path.rpartition("/")[2].lower()) in ORDER_NAMES
