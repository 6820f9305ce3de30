"""Which league somebody means who writes to the one address of them all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from agent_league.protocol import Message, name
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.vocabulary import Json

_CALL = "tools/call"
_JOINING = frozenset(
    {
        *(kind.route.tool for kind in (RegisterPlayer, RegisterReferee)),
        *(name(kind) for kind in (RegisterPlayer, RegisterReferee)),
        "join_league",
    }
)
_PATHS = ("register", "join")
"""Parts of the paths at which third-party agents register."""


@dataclass(frozen=True)
class Wish:
    """What a call tells about the league that it is for."""

    league_id: str | None = None
    token: str | None = None
    tool: str = ""
    joins: bool = False
    """Whether somebody asks to be admitted."""
    display_name: str | None = None


def read_wish(body: bytes, token: str | None = None, path: str = "") -> Wish:
    """Return what *body* tells; *token* is the one in its headers, *path* where it was posted."""
    try:
        frame = msgspec.json.decode(body) if body.strip() else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return Wish(token=token)
    fields = frame if isinstance(frame, dict) else {}
    tool = fields.get("method")
    if "method" in fields:
        fields = _take_object(fields, "params")
    if tool == _CALL:
        tool, fields = fields.get("name"), _take_object(fields, "arguments")
    return make_wish(str(tool or path), fields, token)


def make_wish(tool: str, fields: Mapping[str, Any], token: str | None = None) -> Wish:
    """Return what the call of *tool* with *fields* tells."""
    league_id, own_token = _take_text(fields, "league_id"), _take_text(fields, "auth_token")
    words = {tool, str(fields.get("message_type"))}
    is_path = tool.startswith("/") and any(part in tool.lower() for part in _PATHS)
    joins = is_path or any(word in _JOINING or word.upper() in _JOINING for word in words)
    meta = _take_object(fields, "player_meta")
    return Wish(
        league_id=None if league_id == UNSTATED else league_id,
        token=own_token or token,
        tool=tool,
        joins=joins,
        display_name=_take_text(meta, "display_name") or _take_text(fields, "display_name"),
    )


def read_message_wish(message: Message) -> Wish:
    """Return what a message tells."""
    meta = getattr(message, "meta", None)
    return Wish(
        league_id=None if message.league_id == UNSTATED else message.league_id,
        token=message.auth_token,
        tool=type(message).route.tool,
        joins=isinstance(message, (RegisterPlayer, RegisterReferee)),
        display_name=getattr(meta, "display_name", None),
    )


def _take_object(fields: Mapping[str, Any], key: str) -> dict[str, Json]:
    found = fields.get(key)
    return found if isinstance(found, dict) else {}


def _take_text(fields: Mapping[str, Any], key: str) -> str | None:
    found = fields.get(key)
    return found if isinstance(found, str) and found else None
