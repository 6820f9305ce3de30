"""What an agent does with a body that arrives at `/mcp`: read it, hand it over, write the answer.

Nothing here knows HTTP; `http_server` and `memory` bring the bodies.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_league.dialects import Deviation
from agent_league.dialects.inbound import Understood, frame_habits, understood
from agent_league.dialects.v1_inbound import Heard, Inbound
from agent_league.protocol import (
    MESSAGES,
    TOOLS,
    Acknowledgement,
    ErrorCode,
    Message,
    ProtocolError,
    Request,
    name,
    read,
)
from agent_league.protocol.complaints import LeagueComplaint
from agent_league.protocol.jsonrpc import Call, FrameError, read_call, returned, returned_error
from agent_league.protocol.play import Invitation
from agent_league.protocol.reading import MessageCall, read_call_at_once
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.transport.exchange import Answer
from agent_league.vocabulary import Json

Result: TypeAlias = Struct | dict[str, Json]
Handler: TypeAlias = Callable[[Any], Result | Awaitable[Result]]
"""Answers one kind of message; one that need not wait answers at once, without a task."""
Tool: TypeAlias = Callable[[dict[str, Json]], Result | Awaitable[Result]]
"""A tool that is not a message: it takes its arguments as they came."""
_Application = (RegisterPlayer, RegisterReferee)
Complain: TypeAlias = Callable[[ProtocolError], LeagueComplaint]

_encode = msgspec.json.Encoder().encode


class Reception(Protocol):
    """What an agent makes of messages that deviate from the protocol and can be understood."""

    name: str

    def now(self) -> str: ...

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        """Return the message to be handled, or raise `ProtocolError`."""
        ...

    def handled(self, message: Message, deviations: Sequence[Deviation], result: Result) -> Result:
        """Take note of a message that was handled; return the result as its sender wants it."""
        ...


class Endpoint:
    """Dispatches by the class of the message, and turns what is wrong into an error reply.

    A *reception* understands strangers; without one, what deviates is read as far as the protocol
    allows it, and refused beyond that.
    """

    def __init__(
        self,
        handlers: Mapping[type[Message], Handler],
        tools: Mapping[str, Tool],
        complain: Complain,
        reception: Reception | None = None,
    ) -> None:
        self._handlers = handlers
        self._tools = tools
        self.tools = frozenset(tools)
        """The names of the tools that are no messages."""
        self._complain = complain
        self._reception = reception
        self._v1 = Inbound(plays=Invitation in handlers)

    def answer(self, body: bytes) -> Answer | Awaitable[Answer]:
        """Return the answer to *body*, or an awaitable of it if a handler has to wait."""
        call = read_call_at_once(body)
        return self._answer_piece_by_piece(body) if call is None else self.answer_call(call)

    def answer_call(self, call: MessageCall) -> Answer | Awaitable[Answer]:
        """Return the answer to a call that was read already."""
        try:
            result = self._received(call, call.params, [])
        except ProtocolError as error:
            return self._refused(call, error)
        return self._answered(call, result)

    def _answer_piece_by_piece(self, body: bytes) -> Answer | Awaitable[Answer]:
        try:
            call = read_call(body)
        except FrameError as error:
            return Answer(200, returned_error(error.id, error.code, error.detail))
        try:
            result = self._result(call, body)
        except ProtocolError as error:
            return self._refused(call, error)
        return self._answered(call, result)

    def _answered(
        self, call: Call | MessageCall, result: Result | Awaitable[Result]
    ) -> Answer | Awaitable[Answer]:
        if isinstance(result, (Struct, dict)):
            return _written(call, result)
        return self._answered_later(call, result)

    def too_large(self) -> Answer:
        """Return the answer to a body that was too long to be read."""
        error = ProtocolError(ErrorCode.MESSAGE_TOO_LARGE, "the message is longer than allowed")
        return Answer(413, self._refused(Call(id=None), error).body)

    def _result(self, call: Call, body: bytes) -> Result | Awaitable[Result]:
        if call.method in self._tools:
            arguments = _arguments(call)
            if "message_type" not in arguments:
                return self._tools[str(call.method)](arguments)
        if self._reception is not None:
            heard = self._v1.heard(body, self._reception.name, self._reception.now())
            if heard is not None:
                call.id = None if isinstance(call.id, UnsetType) else call.id
                return self._translated(self._reception, heard)
        try:
            message = self._message(call, body)
        except ProtocolError:
            found = self._understood(body)
            if found is None:
                raise
            return self._received(call, *found)
        return self._received(call, message, [])

    def _understood(self, body: bytes) -> Understood | None:
        return understood(body, self._reception.now()) if self._reception else None

    def _received(
        self, call: Call | MessageCall, message: Message, habits: list[Deviation]
    ) -> Result | Awaitable[Result]:
        """Handle *message*; if it deviates, or there is more than one way to answer it, as one may."""
        if self._reception is None:
            return self._handled(message)
        deviations = [*frame_habits(call, message), *habits]
        if not deviations and not isinstance(message, _Application):
            return self._handled(message)
        admitted = self._reception.admit(message, deviations)
        if isinstance(message, Request) and isinstance(call.id, UnsetType):
            call.id = None  # whoever asks without an id wants an answer all the same
        return self._noted(self._reception, admitted, deviations)

    async def _noted(
        self, reception: Reception, message: Message, deviations: list[Deviation]
    ) -> Result:
        result = self._handled(message)
        if not isinstance(result, (Struct, dict)):
            result = await result
        return reception.handled(message, deviations, result)

    async def _translated(self, reception: Reception, heard: Heard) -> Result:
        """Handle what was said in another version of the protocol, and answer in that."""
        result: Result = Acknowledgement()
        try:
            for message in heard.messages:
                admitted = reception.admit(message, heard.deviations)
                result = await self._noted(reception, admitted, list(heard.deviations))
        except ProtocolError as error:
            return heard.refused(error)
        return heard.answered(msgspec.to_builtins(result))

    def _handled(self, message: Message) -> Result | Awaitable[Result]:
        handler = self._handlers.get(type(message))
        if handler is None:
            raise ProtocolError(
                ErrorCode.UNKNOWN_MESSAGE_TYPE,
                f"{name(type(message))} is not for this agent",
                about=name(type(message)),
            )
        return handler(message)

    def _message(self, call: Call, body: bytes) -> Message:
        if call.bare:
            return read(body)
        method = str(call.method)
        meant = TOOLS.get(method) or MESSAGES.get(method.upper())
        if isinstance(call.params, UnsetType):
            return _no_params(method, meant)
        try:
            return read(call.params, meant=meant)
        except ProtocolError as error:
            if error.about == "UNKNOWN" and meant is None:
                raise _no_such_method(method) from error
            raise

    async def _answered_later(self, call: Call | MessageCall, result: Awaitable[Result]) -> Answer:
        try:
            return _written(call, await result)
        except ProtocolError as error:
            return self._refused(call, error)

    def _refused(self, call: Call | MessageCall, error: ProtocolError) -> Answer:
        complaint = self._complain(error)
        if call.bare:
            return Answer(200, _encode(complaint))
        if isinstance(call.id, UnsetType):
            return Answer(202, b"")
        said = f"{error.code} {error.code.name}: {error.detail}"
        return Answer(200, returned_error(call.id, error.code.rpc, said, complaint))


def _written(call: Call | MessageCall, result: Result) -> Answer:
    if call.bare:
        return Answer(200, _encode(result))
    if isinstance(call.id, UnsetType):
        return Answer(202, b"")
    return Answer(200, returned(call.id, _encode(result)))


def _arguments(call: Call) -> dict[str, Json]:
    params = {} if call.params is UNSET else msgspec.json.decode(call.params)
    if not isinstance(params, dict):
        raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, "params: expected an object")
    return params


def _no_params(method: str, meant: type[Message] | None) -> Message:
    if meant is None:
        raise _no_such_method(method)
    raise ProtocolError(
        ErrorCode.MISSING_REQUIRED_FIELD,
        "params: a required field is missing",
        about=name(meant),
        field="params",
    )


def _no_such_method(method: str) -> ProtocolError:
    detail = f"no tool is called {method[:60]!r}, and its params name no known message_type"
    return ProtocolError(ErrorCode.UNKNOWN_MESSAGE_TYPE, detail)
