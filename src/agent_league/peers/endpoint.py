"""What an agent does with a body that arrives at `/mcp`: read it, handle it, encode the answer."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from agent_league.dialects import DIALECTS
from agent_league.dialects.dialect import Dialect, Received, Receiver, Spread
from agent_league.futures import pass_on
from agent_league.http.exchange import Answer
from agent_league.protocol import (
    Acknowledgement,
    ErrorCode,
    Message,
    Notice,
    ProtocolError,
    name,
)
from agent_league.protocol.jsonrpc import (
    RESULT_FRAME,
    Call,
    FrameError,
    encode_batch,
    encode_error,
    encode_result,
    read_call,
    read_params,
)
from agent_league.protocol.message import Result
from agent_league.protocol.play import GameMoveCall, Invitation, ParityCall
from agent_league.protocol.queries import Query
from agent_league.protocol.reading import (
    MessageCall,
    find_conversation,
    read_message_batch,
    read_message_call,
)
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.protocol.strict_json import find_json_fault, has_more_tokens
from agent_league.protocol.tokens import is_ticket
from agent_league.vocabulary import Json

Handler: TypeAlias = Callable[[Any], Result | Awaitable[Result]]
"""Answers one kind of message; a handler that need not wait answers without a task."""
Tool: TypeAlias = Callable[[dict[str, Json]], Result | Awaitable[Result]]
"""A tool that is not a message: it takes its arguments as they came."""

Given = TypeVar("Given", bound=Result)

_encode = msgspec.json.Encoder().encode
TOO_MANY = "too many requests, or too many wrong ones; wait a second, then send it again"
WAIT_A_SECOND = (("retry-after", "1"),)
_QUESTIONS = frozenset({Invitation, ParityCall, GameMoveCall})
_RARE = frozenset({RegisterPlayer, RegisterReferee, Query})
"""The messages that tell who somebody is; there is time to look at each of them closely."""


class Deferred(Generic[Given]):
    """A result that counts once something is done; it is sent then, without a task."""

    __slots__ = ("result", "until")

    def __init__(self, result: Given, until: "asyncio.Future[None]") -> None:
        self.result, self.until = result, until

    def __await__(self) -> Generator[Any, None, Given]:
        # Whoever waits may be cancelled; what it waits for goes on.
        yield from asyncio.shield(self.until).__await__()
        return self.result


class _Plan(Struct, frozen=True):
    """How to answer one kind of message."""

    handler: Handler
    tool: str
    is_notice: bool
    needs_ticket: bool
    is_rare: bool


def _make_plan(kind: type[Message], handler: Handler) -> _Plan:
    is_notice = issubclass(kind, Notice)
    return _Plan(handler, kind.route.tool, is_notice, kind in _QUESTIONS, kind in _RARE)


def _fits_batch(call: MessageCall, plan: _Plan) -> bool:
    """Whether *call* is a notice or a question of a match, right in all respects."""
    if call.method != plan.tool or call.id is UNSET:
        return False
    return plan.is_notice or (plan.needs_ticket and is_ticket(call.params.auth_token))


class Endpoint:
    """Dispatches by the class of the message, and turns faults into error replies."""

    def __init__(
        self,
        handlers: Mapping[type[Message], Handler],
        tools: Mapping[str, Tool],
        receiver: Receiver,
        dialects: Iterable[Dialect] = tuple(DIALECTS.values()),
    ) -> None:
        self._handlers = handlers
        self._tools = tools
        self.tools = frozenset(tools)
        """The names of the tools that are not messages."""
        self._receiver = receiver
        makers = [dialect.make_reader for dialect in dialects if dialect.make_reader]
        self._readers = [make_reader(handlers.keys()) for make_reader in makers]
        special = {kind for reader in self._readers for kind in reader.special}
        self._plain = {kind: _make_plan(kind, handlers[kind]) for kind in {*handlers} - special}
        """How to answer the messages that mean the same in every dialect."""

    def answer(self, body: bytes) -> Answer | Awaitable[Answer]:
        """Return the answer to *body*, or an awaitable of it if a handler has to wait."""
        return self.answer_plain(body) or self._answer_in_dialect(body)

    def answer_plain(self, body: bytes) -> Answer | Awaitable[Answer] | None:
        """Return the same for a call that is right in all respects, as nearly all are; else None."""
        call = read_message_call(body)
        if call is None:
            return None
        message: Message = call.params
        plan = self._plain.get(type(message))
        if plan is None or call.method != plan.tool or call.id is UNSET:
            return None
        # A third-party referee may read other words.
        is_foreign = plan.needs_ticket and not is_ticket(message.auth_token)
        if is_foreign or has_more_tokens(body, 1) or (plan.is_rare and find_json_fault(body)):
            return None
        return self._answer_message(call, plan.handler)

    def _answer_message(self, call: MessageCall, handler: Handler) -> Answer | Awaitable[Answer]:
        try:
            result = handler(call.params)
        except ProtocolError as error:
            return self._make_refusal(call, error)
        if isinstance(result, Struct) and type(call.id) is int:  # as nearly always
            return Answer(200, RESULT_FRAME % (_encode(result), call.id))
        return self._make_answer(call, result)

    def answer_batch(self, body: bytes) -> Answer | Awaitable[Answer] | None:
        """Return the answers to a batch of notices, or of questions, that are right in all respects.

        None if one of them is not, or is something else.
        """
        calls = read_message_batch(body)
        if not calls or has_more_tokens(body, len(calls)):
            return None
        handlers: list[Handler] = []
        for call in calls:
            plan = self._plain.get(type(call.params))
            if plan is None or not _fits_batch(call, plan):
                return None
            handlers.append(plan.handler)
        answers = list(map(self._answer_message, calls, handlers))
        bodies = [answer.body for answer in answers if isinstance(answer, Answer)]
        if len(bodies) < len(answers):
            return _join_later(answers)
        return Answer(200, encode_batch(bodies))

    def too_many(self) -> Answer:
        """Return the answer to a caller that has to wait."""
        error = ProtocolError(ErrorCode.TOO_MANY_REQUESTS, TOO_MANY)
        return Answer(429, self._make_refusal(Call(id=None), error).body, headers=WAIT_A_SECOND)

    def too_large(self) -> Answer:
        """Return the answer to a body that was too long to be read."""
        error = ProtocolError(ErrorCode.MESSAGE_TOO_LARGE, "the message is longer than allowed")
        return Answer(413, self._make_refusal(Call(id=None), error).body, is_refusal=True)

    def _answer_in_dialect(self, body: bytes) -> Answer | Awaitable[Answer]:
        try:
            call = read_call(body)
            return self._answer_call(call, body)
        except FrameError as error:
            text = encode_error(error.id, error.code, error.detail)
            return Answer(200, text, is_refusal=True)

    def _answer_call(self, call: Call, body: bytes) -> Answer | Awaitable[Answer]:
        try:
            result = self._dispatch(call, body)
        except ProtocolError as error:
            return self._make_refusal(call, error)
        return self._make_answer(call, result)

    def _dispatch(self, call: Call, body: bytes) -> Result | Awaitable[Result]:
        if call.method in self._tools:
            arguments = read_params(call)
            if not isinstance(arguments, dict):
                raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, "params: expected an object")
            if "message_type" not in arguments:
                return self._tools[str(call.method)](arguments)
        readings = (reader.read(call, body, self._receiver) for reader in self._readers)
        received = next(reading for reading in readings if reading is not None)
        if received.wants_answer and isinstance(call.id, UnsetType):
            call.id = None  # the sender forgot the id, and waits for an answer all the same
        return self._handle_received(received)

    def interpret(
        self, kind: type[Message], body: dict[str, Json], tool: str
    ) -> Awaitable[Result] | None:
        """Return the answer to *body*, sent as a *kind* by calling *tool*; None if nothing deviates.

        Raise `ProtocolError` if it has a fault that cannot be repaired.
        """
        for reader in self._readers:
            received = reader.read_as(kind, body, tool, self._receiver)
            if received is not None:
                return self._handle_received(received)
        return None

    async def _handle_received(self, received: Received) -> Result:
        """Return the answer to the last of the messages, in the dialect of their sender."""
        result: Result = Acknowledgement()
        try:
            for each in received.messages:
                deviations = received.deviations
                message = self._receiver.admit(each, deviations) if deviations else each
                handled = self._handle(message)
                result = handled if isinstance(handled, (Struct, dict)) else await handled
                if deviations:
                    self._receiver.note_deviations(message, deviations)
        except ProtocolError as error:
            return received.encode_refusal(error)
        return received.encode_answer(result)

    def _handle(self, message: Message) -> Result | Awaitable[Result]:
        handler = self._handlers.get(type(message))
        if handler is None:
            wire_name = name(type(message))
            detail = f"{wire_name} is not for this agent"
            raise ProtocolError(ErrorCode.UNKNOWN_MESSAGE_TYPE, detail, about=wire_name)
        return handler(message)

    def _make_answer(
        self, call: Call | MessageCall, result: Result | Awaitable[Result]
    ) -> Answer | Awaitable[Answer]:
        if isinstance(result, (Struct, dict)):
            return _encode_answer(call, result)
        if isinstance(result, Deferred):
            return _give_later(_encode_answer(call, result.result), result.until)
        return self._make_answer_later(call, result)

    async def _make_answer_later(
        self, call: Call | MessageCall, result: Awaitable[Result]
    ) -> Answer:
        try:
            found = await result
            answer = _encode_answer(call, found)
            return replace(answer, is_refusal=True) if is_rejection(found) else answer
        except ProtocolError as error:
            return self._make_refusal(call, error)

    def _make_refusal(self, call: Call | MessageCall, error: ProtocolError) -> Answer:
        error.conversation_id = _find_conversation(call)
        error_message = self._receiver.make_error(error)
        if call.bare or isinstance(call.id, UnsetType):
            return replace(_encode_answer(call, error_message), is_refusal=True)
        text = f"{error.code} {error.code.name}: {error.detail}"
        body = encode_error(call.id, error.code.rpc, text, error_message)
        return Answer(200, body, is_refusal=True)


def _give_later(answer: Answer, until: "asyncio.Future[None]") -> "asyncio.Future[Answer]":
    """Return a future that is *answer* when *until* is done, or fails as that does."""
    given: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    until.add_done_callback(lambda done: pass_on(done, given, lambda _: answer))
    return given


def is_rejection(result: Result) -> bool:
    """Whether *result* refuses a registration, which is no error in this protocol."""
    status = result.get("status") if isinstance(result, dict) else getattr(result, "status", None)
    return status == "REJECTED"


async def _join_later(answers: Iterable[Answer | Awaitable[Answer]]) -> Answer:
    ready = [one if isinstance(one, Answer) else await one for one in answers]
    return Answer(200, encode_batch([answer.body for answer in ready]))


def _find_conversation(call: Call | MessageCall) -> str | None:
    if isinstance(call, MessageCall):
        return str(call.params.conversation_id)
    bare_message = {"conversation_id": call.conversation_id}
    return find_conversation(bare_message if call.bare else call.params)


def _encode_answer(call: Call | MessageCall, result: Result) -> Answer:
    if call.bare:
        return Answer(200, _encode(result))
    if isinstance(call.id, UnsetType):
        return Answer(202, b"")
    if isinstance(result, Spread):
        frame = {**result, "jsonrpc": "2.0", "id": call.id, "result": result}
        return Answer(200, _encode(frame))
    return Answer(200, encode_result(call.id, _encode(result)))
