"""From what came over the wire to a message, or to a sentence about what is wrong with it."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar, Union

import msgspec
from msgspec import inspect

from agent_league.protocol import complaints, play, queries, registration, rounds
from agent_league.protocol.errors import ErrorCode, ProtocolError
from agent_league.protocol.jsonrpc import Id
from agent_league.protocol.message import Message, declared, name
from agent_league.vocabulary import Json

MODULES = (registration, rounds, play, queries, complaints)

MESSAGES: Mapping[str, type[Message]] = MappingProxyType(
    {name(kind): kind for kind in sorted(declared(), key=name)}
)
"""Every message of the protocol, by the name it has on the wire."""

TOOLS: Mapping[str, type[Message]] = MappingProxyType(
    {kind.route.tool: kind for kind in MESSAGES.values() if kind.route.tool}
)
"""Every message that is said by calling a tool, by the name of the tool."""

AnyMessage: Any = Union[tuple(MESSAGES.values())]  # noqa: UP007 - built at run time
"""Every message as one type, for decoders that read a frame and the message in it at once."""
_any_message: msgspec.json.Decoder[Message] = msgspec.json.Decoder(AnyMessage)


class MessageCall(msgspec.Struct):
    """A frame with a right message in it, as nearly all are."""

    bare: ClassVar[bool] = False

    jsonrpc: Literal["2.0"]
    method: str
    params: AnyMessage
    id: Id | msgspec.UnsetType = msgspec.UNSET


_message_call = msgspec.json.Decoder(MessageCall)

Kind = TypeVar("Kind", bound=msgspec.Struct)


def read(raw: bytes | msgspec.Raw, *, meant: type[Message] | None = None) -> Message:
    """Return the message in *raw*, or raise `ProtocolError` naming the field and what it wants.

    *meant* is what the method called for, in case the body does not name its own type.
    """
    try:
        return _any_message.decode(raw)
    except msgspec.ValidationError as error:
        raise _defect(_parsed(raw), str(error), meant) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _not_json(error) from None


def read_call_at_once(body: bytes) -> MessageCall | None:
    """Return the call in *body*; None if it must be read piece by piece to say what it is.

    This is the frame and its message in one go: what it takes, `read_call` and `read` take too.
    """
    try:
        return _message_call.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def read_as(kind: type[Kind], body: Json) -> Kind:
    """Return *body*, already parsed, as a *kind*, or raise `ProtocolError`."""
    try:
        # Not `convert`: it cannot make what is passed on as it came (`Raw`).
        return msgspec.json.decode(msgspec.json.encode(body), type=kind)
    except msgspec.ValidationError as error:
        raise _explained(kind, body, str(error)) from None


def _parsed(raw: bytes | msgspec.Raw) -> Json:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _not_json(error) from None


def _not_json(error: Exception) -> ProtocolError:
    return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, f"not JSON: {error}")


def _defect(body: Json, said_wrong: str, meant: type[Message] | None) -> ProtocolError:
    """Say what is wrong with *body*, which is JSON but not a message."""
    if not isinstance(body, dict):
        detail = "expected an object with the message"
        return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail)
    said = body.get("message_type")
    if said is None and meant is not None:
        return _explained(meant, body, "Object missing required field `message_type`")
    kind = MESSAGES.get(said.upper()) if isinstance(said, str) else None
    if kind is None:
        return _unknown(said)
    if said != name(kind):
        detail = f"message_type: expected {name(kind)!r} in capitals, got {said!r}"
        return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail, field="message_type")
    return _explained(kind, body, said_wrong)


def _unknown(said: Json) -> ProtocolError:
    if said is None:
        detail = "message_type: a required field is missing"
        return ProtocolError(ErrorCode.MISSING_REQUIRED_FIELD, detail, field="message_type")
    detail = f"message_type: {str(said)[:60]!r} is not a message of this protocol"
    return ProtocolError(ErrorCode.UNKNOWN_MESSAGE_TYPE, detail, field="message_type")


_AT = re.compile(r" - at `\$\.?(.*)`$")
_MISSING = re.compile(r"^Object missing required field `([^`]*)`")


def _explained(kind: type[msgspec.Struct], body: Json, said: str) -> ProtocolError:
    """Turn msgspec's sentence into our code, the field's path and what was expected there."""
    at = _AT.search(said)
    path = [step for step in re.split(r"\.|\[", at[1] if at else "") if step.strip(".]")]
    missing = _MISSING.match(said)
    if missing:
        path.append(missing[1])
    field = ".".join(step.rstrip("]") for step in path)
    rule = _rule_at(kind, path)
    expected = rule.get("expected") or _AT.sub("", said).removeprefix("Expected ").split(", got")[0]
    if missing or ("got `null`" in said and rule.get("code") != ErrorCode.INVALID_PARITY_CHOICE):
        code, detail = ErrorCode.MISSING_REQUIRED_FIELD, f"{field}: a required field is missing"
    else:
        code = ErrorCode(rule.get("code", ErrorCode.INVALID_FIELD_VALUE))
        detail = f"{field or 'message'}: expected {expected}, got {_shown(body, path)}"
    about = name(kind) if issubclass(kind, Message) else "UNKNOWN"
    return ProtocolError(code, detail, about=about, field=field, expected=expected)


def _rule_at(kind: type[msgspec.Struct], path: list[str]) -> dict[str, Any]:
    """Return the rule that the field type at *path* carries, or nothing."""
    here: inspect.Type = inspect.type_info(kind)
    rule: dict[str, Any] = {}
    for step in [*path, None]:
        here, rule = _opened(here, rule)
        if step is not None:
            here, rule = _step_into(here, step), {}
    return rule


def _opened(here: inspect.Type, rule: dict[str, Any]) -> tuple[inspect.Type, dict[str, Any]]:
    """Look through annotations and through `X | None` to the type underneath."""
    while True:
        if isinstance(here, inspect.Metadata):
            rule, here = {**rule, **(here.extra or {})}, here.type
        elif isinstance(here, inspect.UnionType):
            here = next(t for t in here.types if not isinstance(t, inspect.NoneType))
        else:
            return here, rule


def _step_into(here: inspect.Type, step: str) -> inspect.Type:
    if isinstance(here, inspect.StructType):
        found = [f.type for f in here.fields if f.encode_name == step]
        return found[0] if found else inspect.AnyType()
    if isinstance(here, inspect.ListType):
        return here.item_type
    return here.value_type if isinstance(here, inspect.DictType) else inspect.AnyType()


SECRETS = {"auth_token", "ticket"}


def _shown(body: Json, path: list[str]) -> str:
    """Show the value at *path* as a sender may see it: short, and never a secret."""
    for step in path:
        if step in SECRETS:
            return "another value"
        if isinstance(body, dict) and step in body:
            body = body[step]
        elif isinstance(body, list) and step[:-1].isdigit():
            body = body[int(step[:-1])]
    if isinstance(body, (dict, list)):  # a secret may stand anywhere inside
        return "an object" if isinstance(body, dict) else f"an array of {len(body)}"
    shown = msgspec.json.encode(body).decode()
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004 - a line's worth
