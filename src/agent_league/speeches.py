"""Every dialect in which an agent can speak to another one."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agent_league.clock import Clock
from agent_league.dialects.versions import V1
from agent_league.mcp.client import McpClient
from agent_league.mcp.client_http import HttpCarrier
from agent_league.mcp.client_speech import MCP, McpSpeech
from agent_league.protocol.fields import VERSION
from agent_league.transport.exchange import Exchange, Post
from agent_league.transport.speech import LeagueSpeech, Speech
from agent_league.transport.speech_v1 import SpeechV1


class Peer(NamedTuple):
    """Whom a line leads to, and how it is spoken to there."""

    url: str
    agent_id: str
    dialect: str = VERSION
    tools: str | None = None
    """The mark of its tools at the first look, if it is spoken to by calling them."""


class Ways(NamedTuple):
    """The ways in which bodies leave an agent."""

    post: Post
    exchange: Exchange


def _in_mcp(peer: Peer, ways: Ways, clock: Clock) -> McpSpeech:
    client = McpClient(HttpCarrier(peer.url, ways.exchange))
    return McpSpeech(client, peer.agent_id, clock, peer.tools)


SPEECHES: Mapping[str, Callable[[Peer, Ways, Clock], Speech]] = MappingProxyType(
    {
        VERSION: lambda peer, ways, clock: LeagueSpeech(peer.url, ways.post),
        V1: lambda peer, ways, clock: SpeechV1(peer.url, ways.post, peer.agent_id),
        MCP: _in_mcp,
    }
)
"""The dialects in which an agent can speak to others."""
