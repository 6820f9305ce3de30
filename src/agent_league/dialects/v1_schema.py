"""The published contract of league.v1: the schema of document 000, and one for each message."""

from typing import Any, Final

import msgspec

from agent_league.dialects.v1_messages import MESSAGES_V1, MessageV1

DRAFT_07: Final = "http://json-schema.org/draft-07/schema#"

BASE: Final[dict[str, Any]] = {
    "$schema": DRAFT_07,
    "type": "object",
    "required": [
        "protocol",
        "message_type",
        "league_id",
        "round_id",
        "match_id",
        "conversation_id",
        "sender",
        "timestamp",
    ],
    "properties": {
        "protocol": {"type": "string", "const": "league.v1"},
        "message_type": {
            "type": "string",
            "enum": [
                "LEAGUE_REGISTER_REQUEST",
                "LEAGUE_REGISTER_RESPONSE",
                "LEAGUE_START_ANNOUNCEMENT",
                "GAME_INVITATION",
                "GAME_INVITATION_RESPONSE",
                "GAME_START",
                "PLAY_REQUEST",
                "PLAY_RESPONSE",
                "PLAY_VALIDATION",
                "GAME_RESULT",
                "ROUND_COMPLETE",
                "LEAGUE_COMPLETE",
            ],
        },
        "league_id": {"type": "string", "format": "uuid"},
        "round_id": {"type": "integer", "minimum": 0},
        "match_id": {"type": "string"},
        "conversation_id": {"type": "string", "format": "uuid"},
        "sender": {"type": "string", "pattern": "^(league_manager|referee|player_.+)$"},
        "timestamp": {"type": "string", "format": "date-time"},
    },
}
"""What all messages must keep to, word for word as document 000 has it."""


def schemas_v1() -> dict[str, dict[str, Any]]:
    """Return the common schema as `BASE`, and a self-contained one for each message."""
    return {"BASE": BASE, **{said: _schema(said, kind) for said, kind in MESSAGES_V1.items()}}


def _schema(said: str, kind: type[MessageV1]) -> dict[str, Any]:
    made = msgspec.json.schema(kind)
    inner = made["$defs"].pop(kind.__name__)
    return {
        "$schema": DRAFT_07,
        "$id": f"league.v1/{said}.json",
        **inner,
        "title": said,
        "description": (kind.__doc__ or "").partition("\n")[0],
        "allOf": [{key: value for key, value in BASE.items() if key != "$schema"}],
        "$defs": made["$defs"],
    }
