"""The messages between agents. Nothing here does I/O or knows a game."""

from agent_league.protocol.errors import ErrorCode, LeagueError, ProtocolError, RpcCode
from agent_league.protocol.message import (
    Acknowledgement,
    Envelope,
    Message,
    Notice,
    Patience,
    Request,
    Role,
    name,
)
from agent_league.protocol.reading import MESSAGES, TOOLS, read, read_as

__all__ = [
    "MESSAGES",
    "TOOLS",
    "Acknowledgement",
    "Envelope",
    "ErrorCode",
    "LeagueError",
    "Message",
    "Notice",
    "Patience",
    "ProtocolError",
    "Request",
    "Role",
    "RpcCode",
    "name",
    "read",
    "read_as",
]
