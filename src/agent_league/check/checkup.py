"""A whole check: find out what the agent is, talk with it, judge what was seen."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from agent_league.check.exchange import Exchange
from agent_league.check.messages import CheckMessages
from agent_league.check.observations import GAMES_IN_A_ROW, Observations, Progress
from agent_league.check.report import Report
from agent_league.check.rules import RULES
from agent_league.check.sessions.client import ProbeClient
from agent_league.check.sessions.fake_peers import ASSIGNED_IDS, CheckLeague
from agent_league.check.sessions.forms import encode_call
from agent_league.check.sessions.manager import ManagerSession
from agent_league.check.sessions.player import PlayerSession
from agent_league.check.sessions.referee import RefereeSession
from agent_league.check.sessions.roles import AgentNotFoundError, find_role
from agent_league.clock import Clock, system_clock
from agent_league.http.client import HttpClient
from agent_league.protocol import Patience, Role
from agent_league.running.serve import LOOPBACK

POLL_SECONDS = 0.1


@dataclass(frozen=True)
class CheckOptions:
    """What is to be checked, and how far to go."""

    url: str
    role: Role | None = None
    games: int = GAMES_IN_A_ROW
    timeout: float = 180.0
    """How many seconds the whole check may take."""
    farewell: bool = True
    """Whether a player gets, at the end, the message that the league is over."""
    league_port: int | None = None
    """Where the check's own league listens, if there is to be one (0 for any port)."""
    host: str = LOOPBACK
    """The address of this machine at which the check's own league and agents listen."""
    players: int = 0
    """How many throw-away players, with a referee, may be sent into a league that is checked."""
    patience: Patience = field(default_factory=Patience)


class Checkup:
    """One check of one agent."""

    def __init__(
        self, options: CheckOptions, wire: HttpClient, progress: Progress, clock: Clock
    ) -> None:
        self._options, self._wire, self._progress = options, wire, progress
        self._client = ProbeClient(options.url, wire.post_for_any_status, options.patience)
        self._messages = CheckMessages(clock)
        self._check_league: CheckLeague | None = None

    async def run(self) -> tuple[Role, Observations]:
        """Return the role of the agent, and what was seen of it."""
        options = self._options
        async with AsyncExitStack() as stack:
            registered_role, registration = await self._wait_for_registration(stack)
            await self._wait_for_agent(patient=registration is not None)
            role = options.role or registered_role
            role = role or await find_role(self._wire, self._client, self._messages)
            session = self._make_session(role)
            observations = session.observations
            observations.game_count = options.games
            if registration is not None and registered_role is role:
                observations.registration = registration
                observations.assigned_id = ASSIGNED_IDS[role]
            elif self._check_league is not None:
                reason = f"it did not register at {self._check_league.url}"
                observations.no_registration_reason = reason
            await self._run_session(session)
        return role, observations

    async def _run_session(self, session: PlayerSession | RefereeSession | ManagerSession) -> None:
        """Talk with the agent, if something is served at its address, as long as there is time."""
        observations, client = session.observations, self._client
        first = await client.send(encode_call("league_probe", {}, 1))
        if first.serves_nothing:
            observations.nothing_served = first
            observations.stop_reason = "nothing serves POST /mcp"
            return
        try:
            async with asyncio.timeout(self._options.timeout):
                await session.run()
        except TimeoutError:
            observations.is_cut_short = True
            observations.stop_reason = "the check ran out of time"
        observations.tool_calls = client.tool_calls
        observations.misnamed = [*client.misnamed]
        observations.reworded = [*client.reworded]

    async def _wait_for_registration(
        self, stack: AsyncExitStack
    ) -> tuple[Role, Exchange] | tuple[None, None]:
        port = self._options.league_port
        if port is None:
            return None, None
        league = self._check_league = CheckLeague(self._messages)
        await league.open(stack, self._options.host, port)
        self._progress(f"waiting for the agent to register at {league.url}")
        return await league.wait_for_registration(self._options.timeout) or (None, None)

    async def _wait_for_agent(self, *, patient: bool) -> None:
        """Wait until the agent listens: many register just before they do.

        An agent that has just registered also needs a moment to read its id from the answer.
        """
        if patient:
            await asyncio.sleep(POLL_SECONDS)
        now = asyncio.get_running_loop().time
        deadline = now() + (self._options.patience.generic if patient else 0.0)
        while not await self._wire.listens(self._options.url, self._options.patience.generic):
            if now() >= deadline:
                raise AgentNotFoundError(f"nobody answers at {self._options.url}")
            await asyncio.sleep(POLL_SECONDS)

    def _make_session(self, role: Role) -> PlayerSession | RefereeSession | ManagerSession:
        options, parts = self._options, (self._client, self._messages, self._progress)
        if role is Role.PLAYER:
            return PlayerSession(*parts, options.farewell, host=options.host)
        if role is Role.REFEREE:
            return RefereeSession(*parts, options.host, self._check_league, self._wire.get)
        return ManagerSession(*parts, options.host, options.players)


async def run_check(
    options: CheckOptions, progress: Progress, clock: Clock = system_clock
) -> Report:
    """Check the agent at *options.url*; raise `AgentNotFoundError` if there is none."""
    started_at = asyncio.get_running_loop().time()
    wire = HttpClient()
    try:
        role, observations = await Checkup(options, wire, progress, clock).run()
    finally:
        await wire.close()
    seconds = asyncio.get_running_loop().time() - started_at
    findings = [rule.judge(observations) for rule in RULES if role in rule.roles]
    return Report(options.url, role, findings, seconds, is_cut_short=observations.is_cut_short)
