"""Registrations as third-party agents write them."""

from collections.abc import Iterator, Mapping

from agent_league.dialects.v2.field_names import Synonyms, is_empty, rename_fields
from agent_league.dialects.v2.words import Body
from agent_league.protocol import Message
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.protocol.requirements import rules

META_FIELDS: Mapping[type[Message], str] = {
    RegisterPlayer: "player_meta",
    RegisterReferee: "referee_meta",
}
_OTHER_METAS = ("meta", "agent_meta", "player", "referee", "agent", "player_info", "referee_info")
_SYNONYMS: Synonyms = {
    "display_name": ("name", "agent_name", "player_name", "referee_name", "agent_id"),
    "contact_endpoint": ("endpoint", "url", "callback_url", "address", "agent_endpoint"),
    "version": ("agent_version",),
    "game_types": ("supported_game_types", "supported_games", "games", "game_type"),
    "max_concurrent_matches": ("capacity", "max_matches"),
}
_DEFAULT_VERSION = "1.0.0"


def repair_registration(key: str, body: Body, game: str) -> Iterator[Deviation]:
    """Gather what an agent says about itself into *key*, and fill in what a league can do without.

    *game* is what an agent plays that names no game.
    """
    meta, deviations = _gather_meta(key, body)
    yield from deviations
    yield from (found._replace(got=f"{key}: {found.got}"[:80]) for found in _repair_meta(meta))
    defaults = {
        "display_name": _find_own_name(body),
        "version": _DEFAULT_VERSION,
        "game_types": [game],
    }
    missing = [field for field in defaults if is_empty(meta.get(field))]
    for field in missing:
        meta[field] = defaults[field]
    if missing:
        yield Deviation(rules.FIELD_MISSING, f"{key} without {', '.join(missing)}"[:80])
    body[key] = meta


def _gather_meta(key: str, body: Body) -> tuple[Body, list[Deviation]]:
    """Return a copy of what an agent says about itself, and what deviates in where it stands."""
    if isinstance(body.get(key), dict):
        return dict(body[key]), []
    for other in (*META_FIELDS.values(), *_OTHER_METAS):
        if isinstance(body.get(other), dict):
            return dict(body[other]), [Deviation(rules.FIELD_MISSING, f"{other} instead of {key}")]
    return dict(body), [Deviation(rules.FIELD_MISSING, f"no {key}: its fields are in the message")]


def _repair_meta(meta: Body) -> Iterator[Deviation]:
    yield from rename_fields(meta, _SYNONYMS)
    games, version = meta.get("game_types"), meta.get("protocol_version")
    if isinstance(games, str) and games:
        meta["game_types"] = [games]
        yield Deviation(rules.FIELD_INVALID, "game_types is no list")
    if isinstance(version, str) and _is_this_protocol(version):
        del meta["protocol_version"]
        yield Deviation(rules.FIELD_INVALID, f"protocol_version {version!r}"[:80])
    port = meta.get("port")
    if is_empty(meta.get("contact_endpoint")) and type(port) is int:
        meta["contact_endpoint"] = f"http://localhost:{port}/mcp"
        yield Deviation(rules.FIELD_MISSING, "port instead of contact_endpoint")


def _is_this_protocol(version: str) -> bool:
    """Whether *version* names league.v2, and is no semantic version."""
    return version.lower().removeprefix("league.").removeprefix("v") in {"2", "2.0", "2.1"}


def _find_own_name(body: Body) -> str:
    """Return what an agent without a display_name calls itself."""
    sender = body.get("sender")
    name = sender.rpartition(":")[2].strip() if isinstance(sender, str) else ""
    return name[:50] or "unnamed"
