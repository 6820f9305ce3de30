"""What no agent should stumble over, made from a message that is right."""

import msgspec

from agent_league.protocol import TOOLS, name
from agent_league.vocabulary import Json

HUGE = 1 << 20
_METHODS = {name(kind): tool for tool, kind in TOOLS.items()}


def method_of(kind: Json) -> str:
    """Return the tool by which a message of *kind* is said, in whatever case it is written."""
    return _METHODS.get(str(kind).upper(), str(kind) or "nothing")


def spoiled(message: Json, required: str, method: str) -> dict[str, bytes]:
    """Return bodies with something bad in them, by what it is; *required* is left out of one."""
    kind = message["message_type"]
    lacking = {key: value for key, value in message.items() if key != required}
    return {
        "broken json": b'{"jsonrpc": "2.0", "method": "%b", "params": {' % method.encode(),
        "unknown method": framed("fly_to_the_moon", {"height": 384400}, 4711),
        "missing field": framed(method, lacking, 4712),
        "wrong case": framed(method, {**message, "message_type": kind.lower()}, 4713),
        "non-utc time": framed(method, {**message, "timestamp": "2025-01-15T10:30:00+02:00"}, 4714),
        "huge body": framed(method, {**message, "padding": "x" * HUGE}, 4715),
    }


def framed(method: str, params: Json, id: Json) -> bytes:  # noqa: A002 - its name in the frame
    return msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params, "id": id})
