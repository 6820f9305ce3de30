"""The published contract: JSON Schema of every message, generated from the declarations."""

from functools import cache
from typing import Any

import msgspec

from agent_league.protocol.message import Acknowledgement
from agent_league.protocol.reading import MESSAGES

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Return one self-contained schema per message, by its name on the wire."""
    kinds: dict[str, type] = {**MESSAGES, "ACKNOWLEDGEMENT": Acknowledgement}
    return {said: _schema(said, kind) for said, kind in kinds.items()}


def _schema(said: str, kind: type) -> dict[str, Any]:
    made = msgspec.json.schema(kind)
    inner = made["$defs"].pop(kind.__name__)
    summary = (kind.__doc__ or "").partition("\n")[0]
    return {
        "$schema": DIALECT,
        "$id": f"league.v2/{said}.json",
        **inner,
        "title": said,
        "description": summary,
        "$defs": made["$defs"],
    }
