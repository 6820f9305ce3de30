"""Who listens at an address: practice is for players."""

import msgspec

from agent_league.clock import format_time, system_clock
from agent_league.http.client import HttpClient
from agent_league.peers.introduction import fetch_role
from agent_league.protocol import ErrorCode, LeagueError, Role, jsonrpc
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.fields import VERSION
from agent_league.protocol.queries import Query
from agent_league.vocabulary import Json

_NAMES = {Role.LEAGUE: "a league manager", Role.REFEREE: "a referee"}
_MANAGER_CODES = {
    ErrorCode.AUTH_TOKEN_MISSING,
    ErrorCode.AUTH_TOKEN_INVALID,
    ErrorCode.PLAYER_NOT_REGISTERED,
}
"""How a manager refuses the query of a stranger."""


class NotAPlayerError(LeagueError):
    """The agent is a manager or a referee."""


async def refuse_other_roles(wire: HttpClient, url: str, within: float) -> None:
    """Raise `NotAPlayerError` if the agent at *url* is a manager or a referee."""
    role = await fetch_role(wire, url, within)
    if role is None and await _answers_queries(wire, url, within):
        role = Role.LEAGUE
    if role in _NAMES:
        raise NotAPlayerError(f"{url} is {_NAMES[role]}; only players can practise")


async def _answers_queries(wire: HttpClient, url: str, within: float) -> bool:
    """Whether the agent understands LEAGUE_QUERY, which only managers get."""
    query = Query(
        protocol=VERSION,
        sender="player:practice",
        timestamp=format_time(system_clock()),
        conversation_id="conv-practice",
        league_id="practice",
        query_type="GET_STANDINGS",
        query_params={},
    )
    try:
        body = jsonrpc.encode_call(query.route.tool, msgspec.json.encode(query), 1)
        answer = msgspec.json.decode((await wire.post(url, body, within)).body)
    except (NoAnswerError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    reply, error = _get(answer, "result"), _get(answer, "error")
    is_answer = _get(reply, "message_type") == "LEAGUE_QUERY_RESPONSE"
    return is_answer or _get(_get(error, "data"), "error_code") in _MANAGER_CODES


def _get(node: Json, key: str) -> Json:
    return node.get(key) if isinstance(node, dict) else None
