"""Which role an agent has, found out by looking and by asking."""

from functools import partial

from agent_league.check.exchange import ERROR_MESSAGE_TYPES, Exchange
from agent_league.check.judging import is_join_reply
from agent_league.check.messages import GAME, LEAGUE_ID, CheckMessages, make_match_id
from agent_league.check.sessions.client import ProbeClient
from agent_league.http.client import HttpClient
from agent_league.peers.introduction import fetch_role
from agent_league.protocol import LeagueError, Role
from agent_league.protocol.failures import UnreachableError
from agent_league.vocabulary import Json

NOT_FOUND = 404


class AgentNotFoundError(UnreachableError):
    """There is no agent at the address that is to be checked."""


class UnknownRoleError(LeagueError):
    """The agent answers, but like none of the roles."""


async def find_role(wire: HttpClient, client: ProbeClient, messages: CheckMessages) -> Role:
    """Return the role of the agent, or raise `UnknownRoleError`."""
    declared = await fetch_role(wire, client.url, client.patience.generic)
    if declared is not None:
        return declared
    for role, probe in _make_probes(messages).items():
        is_good = partial(_is_role_answer, role)
        exchange = await client.send_first(probe, is_good)
        if is_good(exchange):
            return role
        if exchange.answer is not None and exchange.answer.status == NOT_FOUND:
            raise AgentNotFoundError(f"there is nothing at {client.url} (HTTP {NOT_FOUND})")
    raise UnknownRoleError(f"{client.url} answers neither like a player, a referee nor a manager")


def _make_probes(messages: CheckMessages) -> dict[Role, Json]:
    """Return a message for each role that changes nothing."""
    common = {**messages.envelope("player:check", "conv-check-probe"), "league_id": LEAGUE_ID}
    query = {"message_type": "LEAGUE_QUERY", "query_type": "GET_STANDINGS", "query_params": {}}
    return {
        Role.PLAYER: messages.invitation(make_match_id(0)),
        Role.LEAGUE: {**common, **query},
        Role.REFEREE: {**common, "message_type": "START_MATCH", "game_type": GAME},
    }


def _is_role_answer(role: Role, exchange: Exchange) -> bool:
    """Whether an agent of *role* answers its probe like this."""
    if role is Role.PLAYER:
        return is_join_reply(exchange)
    if exchange.get("message_type") in {"LEAGUE_QUERY_RESPONSE", "START_MATCH_RESPONSE"}:
        return True
    if exchange.error_code() == "E023" or exchange.is_unknown_method:
        return False
    is_error = isinstance(exchange.error, dict) and type(exchange.error.get("code")) is int
    return is_error or exchange.get("message_type") in ERROR_MESSAGE_TYPES
