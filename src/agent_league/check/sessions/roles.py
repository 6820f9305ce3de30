"""Which role an agent has, found out by looking and by asking.

A refusal shows nothing: most agents refuse what they do not know. What counts is an answer of
the role, or that a message of the role is refused otherwise than an invented one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from agent_league.check.exchange import Exchange
from agent_league.check.messages import GAME, LEAGUE_ID, CheckMessages, make_match_id
from agent_league.check.reading import ACK, MOVE
from agent_league.check.sessions.client import ProbeClient
from agent_league.check.sessions.forms import FRAMES, Form, encode_call, get_tool
from agent_league.http.client import HttpClient
from agent_league.peers.introduction import fetch_role
from agent_league.protocol import LeagueError, Role
from agent_league.protocol.failures import NoAnswerError, UnreachableError
from agent_league.vocabulary import Json

INVENTED = "WEATHER_FORECAST"
ANSWERS: Mapping[Role, frozenset[str]] = {
    Role.PLAYER: frozenset({ACK, MOVE}),
    Role.LEAGUE: frozenset({"LEAGUE_QUERY_RESPONSE", "LEAGUE_ERROR", "LEAGUE_REGISTER_RESPONSE"}),
    Role.REFEREE: frozenset({"START_MATCH_RESPONSE"}),
}
"""The messages with which only agents of a role answer."""
TOOLS: Mapping[Role, tuple[str, ...]] = {
    Role.LEAGUE: ("register_player", "register_referee", "league_query", "report_match_result"),
    Role.REFEREE: ("start_match", "run_match", "collect_choices", "finalize_match"),
    Role.PLAYER: ("parity", "invitation", "notify_match_result", "game_over"),
}
"""Parts of the names of tools, the roles in the order in which they count."""
WORDS: Mapping[Role, tuple[str, ...]] = {
    Role.LEAGUE: ("league manager", "league_manager", "leaguemanager", "manager"),
    Role.REFEREE: ("referee",),
    Role.PLAYER: ("player",),
}


class AgentNotFoundError(UnreachableError):
    """There is no agent at the address that is to be checked."""


class UnknownRoleError(LeagueError):
    """The agent answers, but like none of the roles."""


class Probe(NamedTuple):
    """A message that only an agent of one role knows, and that changes nothing."""

    role: Role
    message: Json


async def find_role(wire: HttpClient, client: ProbeClient, messages: CheckMessages) -> Role:
    """Return the role of the agent, or raise `UnknownRoleError`."""
    role = await fetch_role(wire, client.url, client.patience.generic)
    role = role or _find_by_tools(await client.fetch_tools())
    role = role or await _find_by_asking(client, _make_probes(messages))
    role = role or await _find_by_pages(wire, client)
    role = role or await _find_by_asking(client, [EMPTY_REGISTRATION])
    if role is not None:
        return role
    first = await client.send(encode_call(INVENTED.lower(), {}, 1))
    if first.serves_nothing:
        status = first.answer.status if first.answer else 0
        raise AgentNotFoundError(f"nothing serves POST {client.url} (HTTP {status})")
    raise UnknownRoleError(f"{client.url} answers neither like a player, a referee nor a manager")


def _find_by_tools(tools: object) -> Role | None:
    text = f"{tools}".lower()
    return next((role for role, names in TOOLS.items() if any(n in text for n in names)), None)


async def _find_by_asking(client: ProbeClient, probes: Iterable[Probe]) -> Role | None:
    """Return the role whose messages the agent knows, as far as its answers show one."""
    suspects: list[Role] = []
    for probe in probes:
        for frame in (FRAMES[0], FRAMES[1], FRAMES[-1]):
            body = Form(frame).encode(probe.message, (), 1) or b""
            exchange = await client.send(body)
            if exchange.serves_nothing:
                return None
            if exchange.get("message_type") in ANSWERS[probe.role] or _is_reply(probe, exchange):
                return probe.role
            invented = {**probe.message, "message_type": INVENTED}
            other = await client.send(Form(frame).encode(invented, (), 1) or b"")
            if _get_signature(exchange) != _get_signature(other):
                suspects.append(probe.role)
                break
    return suspects[0] if len(set(suspects)) == 1 else None


def _is_reply(probe: Probe, exchange: Exchange) -> bool:
    data = exchange.reply_or_error.get("message_type")
    is_league_error = probe.role is Role.LEAGUE and data == "LEAGUE_ERROR"
    is_ack = probe.role is Role.PLAYER and exchange.is_reply_of(ACK)
    return is_ack or (is_league_error and not exchange.is_unknown_call)


def _get_signature(exchange: Exchange) -> tuple[object, ...]:
    """Return what two answers share that mean the same: nothing of the request is in it."""
    kind = str(exchange.request_message.get("message_type"))
    names = {kind, kind.lower(), get_tool(exchange.request_message)}
    text = re.sub(
        "|".join(sorted(map(re.escape, names), key=len, reverse=True)), "X", exchange.refusal_text()
    )
    status = exchange.answer.status if exchange.answer else 0
    fields = tuple(sorted(exchange.message or ())) if not exchange.is_refusal else ()
    return status, exchange.is_refusal, text, fields, exchange.error_code()


def _make_probes(messages: CheckMessages) -> Iterator[Probe]:
    """Yield messages that change nothing, those with the clearest answers first."""
    league = messages.envelope(f"{Role.LEAGUE}:LM01", "conv-check-probe")
    player = messages.envelope("player:P01", "conv-check-probe")
    query = {"message_type": "LEAGUE_QUERY", "query_type": "GET_STANDINGS", "query_params": {}}
    yield Probe(Role.PLAYER, messages.invitation(make_match_id(0)))
    yield Probe(Role.LEAGUE, {**player, "league_id": LEAGUE_ID, **query})
    for kind in ("START_MATCH", "RUN_MATCH"):
        order = {"message_type": kind, "league_id": LEAGUE_ID, "game_type": GAME}
        yield Probe(Role.REFEREE, {**league, **order})
    yield Probe(Role.REFEREE, {**player, "message_type": ACK})


EMPTY_REGISTRATION = Probe(Role.LEAGUE, {"message_type": "LEAGUE_REGISTER_REQUEST"})
"""It says neither who nor where, so it is no registration; but some leagues take even this one."""


async def _find_by_pages(wire: HttpClient, client: ProbeClient) -> Role | None:
    """Return the role that the pages beside /mcp name, as frameworks serve them by themselves."""
    root = client.url.removesuffix("/mcp")
    for page, read in PAGES.items():
        try:
            answer = await wire.get(root + page, client.patience.generic)
            text = read(msgspec.json.decode(answer.body))
        except (NoAnswerError, msgspec.DecodeError, LookupError, TypeError):
            continue
        named = [role for role, words in WORDS.items() if any(word in text for word in words)]
        if len(named) == 1:
            return named[0]
    return None


PAGES: Mapping[str, Callable[[Json], str]] = {
    "/openapi.json": lambda page: str(page["info"]["title"]).lower(),
    "/health": lambda page: " ".join(f"{key} {page[key]}" for key in page).lower(),
}
"""What each page says of the agent."""
