"""What an agent says about itself, to whoever asks."""

import msgspec

from agent_league.http.client import HttpClient
from agent_league.protocol import Role
from agent_league.protocol.failures import NoAnswerError


async def fetch_role(wire: HttpClient, url: str, within: float) -> Role | None:
    """Return what the agent says about itself at `/`, as ours do."""
    try:
        answer = await wire.get(url.removesuffix("/mcp") + "/", within)
        return Role(msgspec.json.decode(answer.body)["agent"])
    except (NoAnswerError, TypeError, KeyError, ValueError):  # ValueError: not JSON, not a role
        return None
