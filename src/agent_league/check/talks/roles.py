"""Which part an agent plays, found out by looking and by asking."""

from functools import partial

import msgspec

from agent_league.check.exchange import Exchange
from agent_league.check.judging import takes_a_seat
from agent_league.check.letters import GAME, LEAGUE_ID, Letters, match_name
from agent_league.check.talks.caller import Caller
from agent_league.protocol import LeagueError, Role
from agent_league.transport import NoAnswerError
from agent_league.transport.http_client import HttpClient
from agent_league.vocabulary import Json

PROBES = (Role.PLAYER, Role.LEAGUE, Role.REFEREE)


class UnknownRoleError(LeagueError):
    """The agent answers, but like no part that we know."""


async def find_role(wire: HttpClient, caller: Caller, letters: Letters) -> Role:
    """Return the part of the agent, or raise `UnknownRoleError`."""
    said = await _introduction(wire, caller.url, caller.patience.generic)
    if said is not None:
        return said
    for role in PROBES:
        good = partial(recognized, role)
        if good(await caller.say_first(_probe(role, letters), good)):
            return role
    raise UnknownRoleError(f"{caller.url} answers neither like a player, a referee nor a manager")


async def _introduction(wire: HttpClient, url: str, within: float) -> Role | None:
    """Return what the agent says of itself at `/`, as ours do."""
    try:
        answer = await wire.get(url.removesuffix("/mcp") + "/", within)
        about = msgspec.json.decode(answer.body)
        return Role(about["agent"])
    except (NoAnswerError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    except (TypeError, KeyError, ValueError):
        return None


def _probe(role: Role, letters: Letters) -> Json:
    """Return a message for *role* that changes nothing."""
    if role is Role.PLAYER:
        return letters.invitation(match_name(0))
    kind = "LEAGUE_QUERY" if role is Role.LEAGUE else "START_MATCH"
    stamp = letters.stamp("player:check", "conv-check-probe")
    query = {"league_id": LEAGUE_ID, "query_type": "GET_STANDINGS", "query_params": {}}
    start = {"league_id": LEAGUE_ID, "game_type": GAME}
    return {**stamp, "message_type": kind, **(query if role is Role.LEAGUE else start)}


def recognized(role: Role, said: Exchange) -> bool:
    """Whether *said* is how an agent of *role* answers its probe."""
    if role is Role.PLAYER:
        return takes_a_seat(said)
    message = said.message or {}
    if message.get("message_type") in {"LEAGUE_QUERY_RESPONSE", "START_MATCH_RESPONSE"}:
        return True
    if said.error_code() == "E023" or not said.refused or said.frame is None:
        return False
    return not said.unknown
