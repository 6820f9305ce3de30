"""A whole check: find out who is there, talk with it, judge what was seen."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from agent_league.check import frame_rules, player_endurance, player_rules
from agent_league.check.caller import Caller
from agent_league.check.letters import Letters
from agent_league.check.player_talk import PlayerTalk, Progress
from agent_league.check.report import Finding, Report
from agent_league.check.roles import find_role
from agent_league.check.rule import Rule, declared_in
from agent_league.check.seen import PlayerSeen, Seen
from agent_league.clock import Clock, system_clock
from agent_league.protocol import Patience, Role
from agent_league.transport import UnreachableError
from agent_league.transport.http_client import HttpClient

MODULES = (frame_rules, player_rules, player_endurance)
RULES: tuple[Rule, ...] = tuple(declared_in(*MODULES))
GAMES_IN_A_ROW = 50


class NobodyThereError(UnreachableError):
    """There is no agent at the address that is to be checked."""


@dataclass(frozen=True)
class Order:
    """What is to be checked, and how far to go."""

    url: str
    role: Role | None = None
    games: int = GAMES_IN_A_ROW
    timeout: float = 120.0
    """How many seconds the whole check may take."""
    farewell: bool = True
    """Whether the agent is told, at the end, that the league is over."""
    patience: Patience = field(default_factory=Patience)


async def checked(order: Order, progress: Progress, clock: Clock = system_clock) -> Report:
    """Check the agent at *order.url*; raise `NobodyThereError` if there is none."""
    began = asyncio.get_running_loop().time()
    wire = HttpClient()
    try:
        if not await wire.listens(order.url, order.patience.generic):
            raise NobodyThereError(f"nobody answers at {order.url}")
        caller, letters = Caller(order.url, wire.post, order.patience), Letters(clock)
        role = order.role or await find_role(wire, caller, letters)
        seen = PlayerSeen(order.url)
        talk = PlayerTalk(caller, letters, seen, progress)
        with suppress(TimeoutError):
            async with asyncio.timeout(order.timeout):
                await talk.hold(order.games, farewell=order.farewell)
    finally:
        await wire.close()
    return Report(order.url, role, judged(role, seen), asyncio.get_running_loop().time() - began)


def judged(role: Role, seen: Seen) -> list[Finding]:
    """Return how an agent of *role* did by each of its rules."""
    return [Finding(rule, rule(seen)) for rule in RULES if role in rule.roles]
