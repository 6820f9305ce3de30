"""Sessions with all agents of a league at once, and their tools in one list.

Agents offer tools of the same names; with the agent's id before it, each has a name of its own:
`P01.choose_parity`.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress
from types import MappingProxyType

from agent_league.dialects.mcp.client import McpClient
from agent_league.dialects.mcp.tools import Tool, ToolList, ToolResult
from agent_league.dialects.mcp.transports import HttpTransport
from agent_league.http.exchange import SendRequest
from agent_league.protocol import LeagueError, RpcCode
from agent_league.protocol.failures import NoAnswerError, RefusedError
from agent_league.vocabulary import Json

MAX_CONCURRENT = 16


class NoSuchToolError(LeagueError):
    """No connected agent has a tool of that name."""


@dataclass
class AgentSession:
    """The session with one agent: how to reach it, and its tools."""

    agent_id: str
    url: str
    client: McpClient
    tool_list: ToolList = field(default_factory=ToolList)
    problem: str | None = "not connected yet"
    """Why it cannot be reached now; None while it can."""

    async def refresh(self, within: float) -> None:
        """Check that the agent still answers; connect and list its tools if it was not reached."""
        try:
            if self.problem is None:
                return await self.client.ping(within)
            self.tool_list, self.problem = await self.client.list_tools(within), None
        except NoAnswerError as error:
            self.problem, self.tool_list = str(error), ToolList()
            self.client.disconnect()
        return None


class AgentSessions:
    """The sessions with the agents of a league, by their ids."""

    def __init__(
        self,
        agents: Mapping[str, str],
        send_request: SendRequest,
        within: float,
        tokens: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Open no session yet; *tokens* are sent as the bearer, each to the agent of its id alone."""
        self._within = within
        headers = {who: {"authorization": f"Bearer {token}"} for who, token in tokens.items()}
        self.by_agent = {
            agent_id: AgentSession(
                agent_id,
                url,
                McpClient(HttpTransport(url, send_request, headers.get(agent_id, {}))),
            )
            for agent_id, url in agents.items()
        }

    async def refresh(self) -> list[AgentSession]:
        """Connect to everybody; return those who were lost, or reached, since the last time."""
        semaphore = asyncio.Semaphore(MAX_CONCURRENT)

        async def refresh_one(session: AgentSession) -> bool:
            was_reached = session.problem is None
            async with semaphore:
                await session.refresh(self._within)
            return was_reached != (session.problem is None)

        sessions = self.by_agent.values()
        return list(compress(sessions, await asyncio.gather(*map(refresh_one, sessions))))

    def tools(self) -> dict[str, Tool]:
        """Return every tool of every agent under its full name."""
        return {
            f"{agent_id}.{name}": tool
            for agent_id, session in self.by_agent.items()
            for name, tool in sorted(session.tool_list.tools.items())
        }

    async def call(self, full_name: str, arguments: Mapping[str, Json]) -> ToolResult:
        """Call a tool by its full name, or raise `NoSuchToolError` or a `NoAnswerError`."""
        agent_id, _, name = full_name.partition(".")
        session = self.by_agent.get(agent_id)
        if session is None:
            raise NoSuchToolError(f"no agent is called {agent_id!r}")
        await session.refresh(self._within)
        if session.problem is not None:
            raise NoSuchToolError(f"{agent_id} offers no tools: {session.problem}")
        listed = session.tool_list.tools.get(name)
        try:
            # An agent need not list all its tools to everybody.
            return await session.client.call_tool(listed or Tool(name), arguments, self._within)
        except RefusedError as error:
            if listed is None and error.rpc_code == RpcCode.INVALID_PARAMS:
                raise NoSuchToolError(f"{agent_id} has no tool {name!r}") from error
            raise
