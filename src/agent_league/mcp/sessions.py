"""Sessions with all agents of a league at once, and their tools under one roof.

Agents offer tools of the same names; with the agent's id before it, each has a name of its own:
`P01.choose_parity`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from agent_league.mcp.client import McpClient
from agent_league.mcp.client_http import HttpCarrier
from agent_league.mcp.client_tools import Called, Tool, Toolbox
from agent_league.protocol import LeagueError
from agent_league.transport import NoAnswerError
from agent_league.transport.exchange import Exchange
from agent_league.vocabulary import Json

AT_ONCE = 16


class NoSuchToolError(LeagueError):
    """No connected agent has a tool of that name."""


@dataclass
class Session:
    """What we have with one agent: how it is reached, what it offers, or why it does not."""

    agent_id: str
    url: str
    client: McpClient
    box: Toolbox = field(default_factory=Toolbox)
    problem: str | None = None
    """Why it cannot be spoken to now; None while it can."""

    async def open(self, within: float) -> None:
        """Connect and look at the tools; what is in the way is kept as the problem."""
        try:
            self.box = await self.client.list_tools(within)
        except NoAnswerError as error:
            self._lost(error)
        else:
            self.problem = None

    async def beat(self, within: float) -> None:
        """See whether the agent still answers; one that was lost is connected anew."""
        if self.problem is not None:
            return await self.open(within)
        try:
            await self.client.heartbeat(within)
        except NoAnswerError as error:
            self._lost(error)
        return None

    def _lost(self, error: NoAnswerError) -> None:
        self.problem, self.box = str(error), Toolbox()
        self.client.disconnect()


class Sessions:
    """The sessions with the agents of a league, by their ids."""

    def __init__(self, agents: Mapping[str, str], exchange: Exchange, within: float) -> None:
        self._within = within
        self.by_agent = {
            agent_id: Session(agent_id, url, McpClient(HttpCarrier(url, exchange)))
            for agent_id, url in agents.items()
        }

    async def open(self) -> None:
        """Connect to everybody."""
        await self._everybody(Session.open)

    async def beat(self) -> list[Session]:
        """Look after everybody; return those who were lost, or came back, since the last time."""
        before = {agent_id: session.problem for agent_id, session in self.by_agent.items()}
        await self._everybody(Session.beat)
        return [
            session
            for agent_id, session in self.by_agent.items()
            if (session.problem is None) != (before[agent_id] is None)
        ]

    def tools(self) -> dict[str, Tool]:
        """Return every tool of every agent under its full name."""
        return {
            f"{agent_id}.{name}": tool
            for agent_id, session in self.by_agent.items()
            for name, tool in sorted(session.box.tools.items())
        }

    async def call(self, full_name: str, arguments: Mapping[str, Json]) -> Called:
        """Call a tool by its full name, or raise `NoSuchToolError` or a `NoAnswerError`."""
        agent_id, _, name = full_name.partition(".")
        session = self.by_agent.get(agent_id)
        if session is None:
            raise NoSuchToolError(f"no agent is called {agent_id!r}")
        await session.open(self._within)
        if session.problem is not None:
            raise NoSuchToolError(f"{agent_id} offers no tools: {session.problem}")
        if name not in session.box.tools:
            raise NoSuchToolError(f"{agent_id} has no tool {name!r}")
        tool = session.box.tools[name]
        return await session.client.call_tool(tool, arguments, self._within)

    async def _everybody(self, work: Callable[[Session, float], Awaitable[None]]) -> None:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(session: Session) -> None:
            async with room:
                await work(session, self._within)

        await asyncio.gather(*map(one, self.by_agent.values()))
