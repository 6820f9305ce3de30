"""What agents say to each other. Nothing here does I/O or knows a game."""

from agent_league.protocol.errors import ErrorCode, LeagueError, ProtocolError
from agent_league.protocol.message import (
    Acknowledgement,
    Message,
    Notice,
    Patience,
    Request,
    Role,
    Stamp,
    name,
)
from agent_league.protocol.reading import MESSAGES, TOOLS, read, read_as

__all__ = [
    "MESSAGES",
    "TOOLS",
    "Acknowledgement",
    "ErrorCode",
    "LeagueError",
    "Message",
    "Notice",
    "Patience",
    "ProtocolError",
    "Request",
    "Role",
    "Stamp",
    "name",
    "read",
    "read_as",
]
