"""From what a stranger sent to the message that it meant."""

from typing import NamedTuple

import msgspec
from msgspec import UNSET

from agent_league.dialects import orders, rules
from agent_league.dialects.mending import Body, kind_of, mended, shown
from agent_league.dialects.rules import Deviation
from agent_league.protocol import Message, Request, name
from agent_league.protocol.jsonrpc import Call
from agent_league.protocol.play import StartMatch
from agent_league.protocol.reading import MessageCall, read_as
from agent_league.vocabulary import Json


class Understood(NamedTuple):
    """A message, and in what it deviates."""

    message: Message
    deviations: list[Deviation]


def understood(body: bytes, now: str) -> Understood | None:
    """Return the message that *body* means; None if it is not understood at all.

    Raise `ProtocolError` if it is found, and wrong in a way that nobody can mend.
    """
    try:
        frame = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not isinstance(frame, dict) or frame.get("method") == "tools/call":
        return None
    order = orders.read(frame, now)
    if order is not None:
        return Understood(*order)
    said = frame if "message_type" in frame and "method" not in frame else frame.get("params")
    found = _found(said)
    kind = kind_of(found.get("message_type")) if found else None
    if found is None or kind is None:
        return None
    cured, deviations = mended(kind, found, now)
    if found is not said:
        deviations.append(Deviation(rules.MESSAGE_NESTED, f"params with {_inside(said, found)}"))
    return Understood(read_as(kind, cured), deviations) if deviations else None


def _found(said: Json) -> Body | None:
    """Return the object that has a message_type: what was sent, or something one level down."""
    if not isinstance(said, dict):
        return None
    if "message_type" in said:
        return said
    inside = [one for one in said.values() if isinstance(one, dict) and "message_type" in one]
    return inside[0] if inside else None


def _inside(said: Json, found: Body) -> str:
    return next(shown(key) for key, value in said.items() if value is found)


def frame_habits(call: Call | MessageCall, message: Message) -> list[Deviation]:
    """Return in what the frame around *message* deviates; for a right one, at next to no cost."""
    if call.method == message.route.tool and call.id is not UNSET:
        return []
    if call.bare:
        return [Deviation(rules.FRAME_MISSING, "a message without a frame")]
    habits = []
    if call.id is UNSET and isinstance(message, Request):
        habits.append(Deviation(rules.FRAME_ID_MISSING, "no id"))
    method = str(call.method)
    known = {message.route.tool, *(orders.METHODS if isinstance(message, StartMatch) else ())}
    if method not in known and method.upper() != name(type(message)):
        habits.append(Deviation(rules.METHOD_INVENTED, shown(method)))
    return habits
