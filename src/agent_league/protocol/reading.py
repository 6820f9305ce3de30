"""Reads a message from JSON, or says in one sentence what is wrong with it."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeVar, Union

import msgspec

from agent_league.protocol import error_messages, play, queries, registration, rounds
from agent_league.protocol.errors import ErrorCode, ProtocolError
from agent_league.protocol.explain import Explanation, abridge, explain, find_value
from agent_league.protocol.fields import LONGEST_TEXT
from agent_league.protocol.jsonrpc import Id
from agent_league.protocol.message import Message, iter_message_kinds, name
from agent_league.vocabulary import Json

MODULES = (registration, rounds, play, queries, error_messages)

MESSAGES: Mapping[str, type[Message]] = {
    name(kind): kind for kind in sorted(iter_message_kinds(), key=name)
}
"""Every message of the protocol, by the name it has on the wire."""

TOOLS: Mapping[str, type[Message]] = {
    kind.route.tool: kind for kind in MESSAGES.values() if kind.route.tool
}
"""Every message that is sent by calling a tool, by the name of the tool."""

AnyMessage: Any = Union[tuple(MESSAGES.values())]  # noqa: UP007 - built at run time
"""Every message as one type, for decoders that read a frame and its message in one step."""
_message_decoder: msgspec.json.Decoder[Message] = msgspec.json.Decoder(AnyMessage)


class MessageCall(msgspec.Struct):
    """A call whose params are a valid message, as in nearly all calls."""

    bare: ClassVar[bool] = False

    jsonrpc: Literal["2.0"]
    method: str
    params: AnyMessage
    id: Id | msgspec.UnsetType = msgspec.UNSET


_message_call_decoder = msgspec.json.Decoder(MessageCall)
_message_batch_decoder = msgspec.json.Decoder(list[MessageCall])

Kind = TypeVar("Kind", bound=msgspec.Struct)


def read(raw: bytes | msgspec.Raw, *, expected: type[Message] | None = None) -> Message:
    """Return the message in *raw*, or raise `ProtocolError` naming the field and what it must be.

    *expected* is the message of the method that was called, for a body without message_type.
    """
    try:
        try:
            return _message_decoder.decode(raw)
        except msgspec.ValidationError as error:
            raise _make_defect_error(msgspec.json.decode(raw), str(error), expected) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, f"not JSON: {error}") from None


def read_message_call(body: bytes) -> MessageCall | None:
    """Return the call in *body*, frame and message read in one step; None if something is wrong.

    `read_call` and `read` accept the same calls, and say what is wrong with the others.
    """
    try:
        return _message_call_decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def read_message_batch(body: bytes) -> list[MessageCall] | None:
    """Return the calls of the batch in *body*; None if something is wrong in one of them."""
    try:
        return _message_batch_decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def find_conversation(message: Json) -> str | None:
    """Return the conversation id of what was to be a *message*; None if it has no valid one."""
    if isinstance(message, bytes | msgspec.Raw):
        try:
            message = msgspec.json.decode(message)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None
    found = message.get("conversation_id") if isinstance(message, dict) else None
    return found if isinstance(found, str) and 0 < len(found) <= LONGEST_TEXT else None


def read_as(kind: type[Kind], body: Json) -> Kind:
    """Return *body*, already parsed, as a *kind*, or raise `ProtocolError`."""
    try:
        # Not `convert`: it cannot make fields that are passed on unread (`Raw`).
        return msgspec.json.decode(msgspec.json.encode(body), type=kind)
    except msgspec.ValidationError as error:
        raise make_message_error(kind, body, str(error)) from None


def _make_defect_error(body: Json, reason: str, expected: type[Message] | None) -> ProtocolError:
    """Return what is wrong with *body*, which is JSON but not a message."""
    if not isinstance(body, dict):
        detail = "expected an object with the message"
        return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail)
    message_type = body.get("message_type")
    if message_type is None and expected is not None:
        return make_message_error(expected, body, "Object missing required field `message_type`")
    if message_type is None:
        detail = "message_type: a required field is missing"
        return ProtocolError(ErrorCode.MISSING_REQUIRED_FIELD, detail, field="message_type")
    kind = MESSAGES.get(message_type.upper()) if isinstance(message_type, str) else None
    if kind is None:
        detail = f"message_type: {str(message_type)[:60]!r} is not a message of this protocol"
        return ProtocolError(ErrorCode.UNKNOWN_MESSAGE_TYPE, detail, field="message_type")
    if message_type != name(kind):
        detail = f"message_type: expected {name(kind)!r} in capitals, got {message_type!r}"
        return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail, field="message_type")
    return make_message_error(kind, body, reason)


def make_message_error(kind: type[msgspec.Struct], body: Json, error: str) -> ProtocolError:
    """Return msgspec's *error* about *body* with our code, the path of the field and what was expected there."""
    found = explain(kind, body, error)
    field = ".".join(step.strip("[]") for step in found.path)
    code = ErrorCode(found.rule.get("code", ErrorCode.INVALID_FIELD_VALUE))
    if found.missing and (not found.got or code != ErrorCode.INVALID_PARITY_CHOICE):
        code, detail = ErrorCode.MISSING_REQUIRED_FIELD, f"{field}: a required field is missing"
    else:
        detail = f"{field or 'message'}: expected {found.expected}, got {found.got}"
    about = str(kind.__struct_config__.tag or "UNKNOWN")
    context = _make_choice_context(found, body) if code == found.rule.get("code") else {}
    return ProtocolError(code, detail, about=about, field=field, expected=found.expected, **context)


def _make_choice_context(found: Explanation, body: Json) -> dict[str, Json]:
    """Return what was chosen and what may be chosen, if the field is a choice."""
    valid = found.rule.get("valid_choices")
    if valid is None:
        return {}
    return {"invalid_choice": abridge(find_value(body, found.path)), "valid_choices": valid}
