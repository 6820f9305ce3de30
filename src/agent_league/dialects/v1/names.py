"""Names that differ between league.v1 and league.v2: ids, senders, endpoints."""

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


def make_uuid(*parts: str) -> str:
    """Return the UUID of a thing that is named by *parts*; one that has a UUID keeps it."""
    if _UUID.fullmatch(parts[-1]):
        return parts[-1]
    return str(uuid5(_NAMESPACE, "|".join(parts)))


def to_v1_player(player_id: str) -> str:
    """Return `P01` as `player_001`, and any other name as `player_NAME`."""
    match = _NUMBERED.fullmatch(player_id)
    if match:
        return f"{_PREFIX}{int(match[1]):03}"
    return player_id if player_id.startswith(_PREFIX) else f"{_PREFIX}{player_id}"


def to_v2_player(player_id: str) -> str:
    """Return `player_001` as `P01`; any other name stays as it is."""
    match = _NUMBERED_V1.fullmatch(player_id)
    own_id = f"P{int(match[1]):02}" if match else player_id
    return own_id if to_v1_player(own_id) == player_id else player_id


def to_v1_sender(sender: str) -> str:
    role, _, who = sender.partition(":")
    return to_v1_player(who) if role == Role.PLAYER else role


def to_v2_sender(sender: str) -> str:
    if sender == Role.LEAGUE:
        return sender
    if sender == Role.REFEREE:
        return f"{Role.REFEREE}:{sender}"
    who = to_v2_player(sender)
    return f"{Role.PLAYER}:{who.removeprefix(_PREFIX) or who}"


def to_v1_endpoint(endpoint: str, who: str) -> str:
    """Return `http://host:port/mcp` as `mcp://host:port/WHO`."""
    parts = urlsplit(endpoint)
    if parts.scheme != "http" or parts.path != "/mcp":
        return endpoint
    return f"mcp://{parts.netloc}/{quote(who, safe='')}"


def to_v2_endpoint(endpoint: str) -> str:
    """Return `mcp://host:port/player_id` as the address that can be posted to."""
    scheme, _, rest = endpoint.partition("://")
    if scheme.lower() != "mcp":
        return endpoint
    return f"http://{rest.partition('/')[0]}/mcp"


def rename_players_v2(sentence: str) -> str:
    """Return *sentence* with our player ids in it."""
    return re.sub(rf"\b{_NUMBERED_V1.pattern}\b", lambda match: to_v2_player(match[0]), sentence)


def rename_players_v1(sentence: str) -> str:
    """Return *sentence* with the player ids of league.v1 in it."""
    return re.sub(r"\bP[0-9]{2,}\b", lambda match: to_v1_player(match[0]), sentence)
