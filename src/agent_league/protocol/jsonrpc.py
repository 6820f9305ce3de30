"""The JSON-RPC 2.0 frame around a message."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from agent_league.protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND, LeagueError
from agent_league.vocabulary import Json

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "Call",
    "FrameError",
    "Returned",
    "call",
    "read_call",
    "read_returned",
    "returned",
    "returned_error",
]

Id = str | int | float | None


class FrameError(LeagueError):
    """The frame is not JSON-RPC 2.0; *code* says in which way."""

    def __init__(self, code: int, detail: str, id: Id = None) -> None:  # noqa: A002 - its name in the frame
        super().__init__(detail)
        self.code, self.detail, self.id = code, detail, id


class Call(Struct):
    """A request, a notification (no id), or a bare message (no frame at all)."""

    jsonrpc: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    id: Id | UnsetType = UNSET
    message_type: Raw | UnsetType = UNSET

    @property
    def bare(self) -> bool:
        """Whether a message came without its frame; it is then answered without one too."""
        return self.method is UNSET and self.message_type is not UNSET


class Problem(Struct, omit_defaults=True):
    """The error member of a frame."""

    code: int
    message: str
    data: Any = None


class Returned(Struct):
    """The answer to a call: a result, or an error."""

    id: Id | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Problem | UnsetType | None = UNSET


_call = msgspec.json.Decoder(Call)
_returned = msgspec.json.Decoder(Returned)
_encoder = msgspec.json.Encoder()


def call(method: str, params: bytes, id: int) -> bytes:  # noqa: A002 - its name in the frame
    return b'{"jsonrpc":"2.0","method":"%b","params":%b,"id":%d}' % (method.encode(), params, id)


def returned(id: Id, result: bytes) -> bytes:  # noqa: A002 - its name in the frame
    return b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (result, _encoder.encode(id))


def returned_error(id: Id, code: int, message: str, data: Json = None) -> bytes:  # noqa: A002 - its name in the frame
    problem = _encoder.encode(Problem(code, message, data))
    return b'{"jsonrpc":"2.0","error":%b,"id":%b}' % (problem, _encoder.encode(id))


def read_call(body: bytes) -> Call:
    """Return the call in *body*, or raise `FrameError`."""
    try:
        frame = _call.decode(body)
    except msgspec.ValidationError as error:
        raise FrameError(INVALID_REQUEST, f"not a JSON-RPC 2.0 request: {error}") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise FrameError(PARSE_ERROR, f"not JSON: {error}") from None
    if not frame.bare:
        _check(frame)
    return frame


def _check(frame: Call) -> None:
    id_ = None if isinstance(frame.id, UnsetType) else frame.id
    if frame.method is UNSET:
        raise FrameError(INVALID_REQUEST, "method: a required member is missing", id_)
    if frame.jsonrpc != "2.0":
        raise FrameError(INVALID_REQUEST, 'jsonrpc: expected "2.0"', id_)
    if frame.params is not UNSET and bytes(frame.params)[:1] not in (b"{", b"["):
        raise FrameError(INVALID_REQUEST, "params: expected an object or an array", id_)


def read_returned(body: bytes) -> Returned:
    """Return the answer in *body*, or raise `FrameError`."""
    try:
        return _returned.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise FrameError(PARSE_ERROR, f"the answer is not a JSON-RPC frame: {error}") from None
