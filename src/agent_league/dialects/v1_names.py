"""What league.v1 calls the things that league.v2 calls otherwise: ids, senders, endpoints."""

import re
from typing import Final
from urllib.parse import quote, urlsplit
from uuid import NAMESPACE_URL, uuid5

from agent_league.protocol import Role

_NAMESPACE = uuid5(NAMESPACE_URL, "agent-league")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NUMBERED = re.compile(r"P([0-9]{2,})")
_NUMBERED_V1 = re.compile(r"player_([0-9]{3,})")
_PREFIX: Final = "player_"


def uuid_of(*parts: str) -> str:
    """Return the UUID of a thing that is named by *parts*; one that has a UUID keeps it."""
    if _UUID.fullmatch(parts[-1]):
        return parts[-1]
    return str(uuid5(_NAMESPACE, "|".join(parts)))


def player_v1(player_id: str) -> str:
    """Return `P01` as `player_001`, and any other name as `player_NAME`."""
    numbered = _NUMBERED.fullmatch(player_id)
    if numbered:
        return f"{_PREFIX}{int(numbered[1]):03}"
    return player_id if player_id.startswith(_PREFIX) else f"{_PREFIX}{player_id}"


def player_v2(player_id: str) -> str:
    """Return `player_001` as `P01`; a name that is none of ours stays as it is."""
    numbered = _NUMBERED_V1.fullmatch(player_id)
    ours = f"P{int(numbered[1]):02}" if numbered else player_id
    return ours if player_v1(ours) == player_id else player_id


def sender_v1(sender: str) -> str:
    role, _, who = sender.partition(":")
    return player_v1(who) if role == Role.PLAYER else role


def sender_v2(sender: str) -> str:
    if sender == Role.LEAGUE:
        return sender
    if sender == Role.REFEREE:
        return f"{Role.REFEREE}:{sender}"
    who = player_v2(sender)
    return f"{Role.PLAYER}:{who.removeprefix(_PREFIX) or who}"


def endpoint_v1(endpoint: str, who: str) -> str:
    """Return `http://host:port/mcp` as `mcp://host:port/WHO`."""
    parts = urlsplit(endpoint)
    if parts.scheme != "http" or parts.path != "/mcp":
        return endpoint
    return f"mcp://{parts.netloc}/{quote(who, safe='')}"


def endpoint_v2(endpoint: str) -> str:
    """Return `mcp://host:port/player_id` as the address that can be posted to."""
    scheme, _, rest = endpoint.partition("://")
    if scheme.lower() != "mcp":
        return endpoint
    return f"http://{rest.partition('/')[0]}/mcp"


def renamed_v1(sentence: str) -> str:
    """Return *sentence* with the players in it called as league.v1 calls them."""
    return re.sub(r"\bP[0-9]{2,}\b", lambda found: player_v1(found[0]), sentence)
