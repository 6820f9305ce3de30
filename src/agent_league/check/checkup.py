"""A whole check: find out who is there, talk with it, judge what was seen."""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

from agent_league.check.exchange import Exchange
from agent_league.check.letters import Letters
from agent_league.check.report import Finding, Report
from agent_league.check.rules import RULES
from agent_league.check.seen import ManagerSeen, PlayerSeen, Progress, RefereeSeen, Seen
from agent_league.check.talks.caller import Caller
from agent_league.check.talks.manager import ManagerTalk
from agent_league.check.talks.player import PlayerTalk
from agent_league.check.talks.reception import GIVEN, Reception
from agent_league.check.talks.referee import RefereeTalk
from agent_league.check.talks.roles import find_role
from agent_league.clock import Clock, system_clock
from agent_league.hosting import LOOPBACK
from agent_league.protocol import Patience, Role
from agent_league.transport import UnreachableError
from agent_league.transport.http_client import HttpClient

GAMES_IN_A_ROW = 50
LOOK_AGAIN = 0.1


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
    league_port: int | None = None
    """Where the check's own league listens, if there is to be one (0 for any port)."""
    host: str = LOOPBACK
    """The address of this machine at which the check's own league and agents listen."""
    players: int = 0
    """How many throw-away players, with a referee, may be sent into a league that is checked."""
    patience: Patience = field(default_factory=Patience)


class Checkup:
    """One check of one agent."""

    def __init__(self, order: Order, wire: HttpClient, progress: Progress, clock: Clock) -> None:
        self._order, self._wire, self._progress = order, wire, progress
        self._caller = Caller(order.url, wire.post, order.patience)
        self._letters = Letters(clock)
        self._reception: Reception | None = None

    async def run(self) -> tuple[Role, Seen]:
        """Return what the agent is, and what was seen of it."""
        order = self._order
        async with AsyncExitStack() as opened:
            came = await self._registration(opened)
            await self._wait_for_the_agent(patient=came is not None)
            role = order.role or (came[0] if came else None)
            role = role or await find_role(self._wire, self._caller, self._letters)
            seen: Seen = SEEN[role](order.url)
            if came is not None and came[0] is role:
                seen.registration, seen.given_id = came[1], GIVEN[role]
            elif self._reception is not None:
                seen.unregistered = f"it did not register at {self._reception.league.url}"
            with suppress(TimeoutError):
                async with asyncio.timeout(order.timeout):
                    await self._talk(seen)
        return role, seen

    async def _registration(self, opened: AsyncExitStack) -> tuple[Role, Exchange] | None:
        port = self._order.league_port
        if port is None:
            return None
        self._reception = Reception(self._letters)
        url = await self._reception.league.open(self._order.host, port)
        opened.push_async_callback(self._reception.league.close)
        self._progress(f"waiting for the agent to register at {url}")
        return await self._reception.registration(self._order.timeout)

    async def _wait_for_the_agent(self, *, patient: bool) -> None:
        """Wait until the agent listens: many register just before they do."""
        now = asyncio.get_running_loop().time
        until = now() + (self._order.patience.generic if patient else 0.0)
        while not await self._wire.listens(self._order.url, self._order.patience.generic):
            if now() >= until:
                raise NobodyThereError(f"nobody answers at {self._order.url}")
            await asyncio.sleep(LOOK_AGAIN)

    async def _talk(self, seen: Seen) -> None:
        games, progress = self._order.games, self._progress
        if isinstance(seen, PlayerSeen):
            talk = PlayerTalk(self._caller, self._letters, seen, progress)
            await talk.hold(games, farewell=self._order.farewell)
        elif isinstance(seen, RefereeSeen):
            match = RefereeTalk(self._caller, self._letters, seen, progress, self._reception)
            await match.hold(games, self._order.host)
        elif isinstance(seen, ManagerSeen):
            league = ManagerTalk(self._caller, self._letters, seen, progress)
            await league.look()
            if self._order.players:
                await league.take_part(self._order.players, self._order.host)


SEEN = {Role.PLAYER: PlayerSeen, Role.REFEREE: RefereeSeen, Role.LEAGUE: ManagerSeen}


async def checked(order: Order, progress: Progress, clock: Clock = system_clock) -> Report:
    """Check the agent at *order.url*; raise `NobodyThereError` if there is none."""
    began = asyncio.get_running_loop().time()
    wire = HttpClient()
    try:
        role, seen = await Checkup(order, wire, progress, clock).run()
    finally:
        await wire.close()
    seconds = asyncio.get_running_loop().time() - began
    return Report(order.url, role, judged(role, seen), seconds)


def judged(role: Role, seen: Seen) -> list[Finding]:
    """Return how an agent of *role* did by each of its rules."""
    return [Finding(rule, rule(seen)) for rule in RULES if role in rule.roles]
