"""Messages of league.v2 that arrive, as the protocol and as third-party agents write them."""

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from agent_league.dialects.dialect import Reader, Received, Receiver
from agent_league.dialects.meanings import find_kind, find_message_kind
from agent_league.dialects.v2 import orders
from agent_league.dialects.v2.completion import Situation, complete
from agent_league.dialects.v2.other_words import write_in_other_words
from agent_league.dialects.v2.repairs import parse_object, preview
from agent_league.dialects.v2.words import Body
from agent_league.protocol import ErrorCode, Message, ProtocolError, Request, name, registration
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.jsonrpc import Call
from agent_league.protocol.message import Result
from agent_league.protocol.play import Invitation, MoveCall, StartMatch
from agent_league.protocol.reading import MESSAGES, TOOLS, read
from agent_league.protocol.requirements import rules
from agent_league.protocol.rounds import RoundAnnouncement

Registration: TypeAlias = registration.RegisterPlayer | registration.RegisterReferee
_APPLICATIONS = (registration.RegisterPlayer, registration.RegisterReferee)
_ADMISSIONS = (registration.PlayerRegistered, registration.RefereeRegistered)
ACCEPTED: Final = "ACCEPTED"
REGISTERED: Final = "REGISTERED"
MAX_REMEMBERED = 1000
"""How many questions are remembered, whatever strangers send."""
REPEAT_LIMIT, REPEAT_WINDOW = 8, 10.0
"""An agent that registers so often, each time so soon after the last, does not know ACCEPTED."""


class _Registrations(NamedTuple):
    """How often an agent registered in a row, and when it did last."""

    times: int
    at: float


class V2Reader(Reader):
    """Understands every body that names a message, in whatever form; it refuses the others."""

    def __init__(self, kinds: Collection[type[Message]]) -> None:
        self._kinds = kinds
        self._registrations: dict[str, _Registrations] = {}
        self._asked: dict[tuple[str, type[Message]], None] = {}
        """The questions of referees that show no ticket."""
        self.special = {
            registration.RegisterPlayer: self._receive_registration,
            registration.RegisterReferee: self._receive_registration,
            **({RoundAnnouncement: _receive_announcement} if StartMatch in kinds else {}),
        }

    def read(self, call: Call, body: bytes, receiver: Receiver) -> Received | None:
        sent: Body = {}
        try:
            message, deviations = read_framed(call, body), list[Deviation]()
        except ProtocolError:
            interpretation = interpret(body, self._describe(receiver))
            if interpretation is None:
                raise
            message, deviations, sent = interpretation
        deviations = [*find_frame_deviations(call, message), *deviations]
        return self._receive(message, deviations, sent, receiver, method=call.method)

    def read_as(
        self, kind: type[Message], body: Body, tool: str, receiver: Receiver
    ) -> Received | None:
        deviations = _find_name_deviations(tool, kind)
        frame: Body = {"method": kind.route.tool, "params": body}
        order = orders.read_order(frame, receiver.now()) if kind is StartMatch else None
        if order is not None:
            answered = [*deviations, *order[1]]
            return Received([order[0]], answered, encode_answer=orders.format_answer)
        found = find_message(frame, self._kinds)
        if found is None or found.kind is not kind:
            return None
        # A call of a tool need not name the message.
        sent = {"message_type": name(kind), **found.body}
        message, repaired = complete(kind, sent, self._describe(receiver))
        deviations += [*found.deviations, *repaired]
        return self._receive(message, deviations, sent, receiver) if deviations else None

    def _describe(self, receiver: Receiver) -> Situation:
        return Situation(receiver.now(), receiver.name, receiver.game, self._kinds)

    def _receive(
        self,
        message: Message,
        deviations: list[Deviation],
        sent: Body,
        receiver: Receiver,
        method: str | UnsetType = UNSET,
    ) -> Received:
        wants_answer = isinstance(message, Request)
        received = Received([message], deviations, wants_answer=wants_answer)
        if isinstance(message, StartMatch) and deviations:
            received = received._replace(encode_answer=orders.format_answer)
        if type(message) in self.special:
            special = self.special[type(message)](message, receiver)
            received = special._replace(deviations=[*deviations, *special.deviations])
        if isinstance(message, _APPLICATIONS):
            is_right = method == message.route.tool
        else:
            is_right = not (deviations or self._is_repeated(message)) and bool(message.auth_token)
        if is_right:
            return received
        encode = partial(write_in_other_words, message, sent, received.encode_answer)
        return received._replace(encode_answer=encode)

    def _is_repeated(self, message: Message) -> bool:
        """Whether *message* is a question that was asked before: its answer was perhaps not read."""
        if not isinstance(message, (Invitation, MoveCall)):
            return False
        key, memory = (message.match_id, type(message)), self._asked
        is_repeated = key in memory
        memory[key] = None
        if len(memory) > MAX_REMEMBERED:
            del memory[next(iter(memory))]
        return is_repeated

    def _receive_registration(self, request: Registration, receiver: Receiver) -> Received:
        """Read a registration; the answer is REGISTERED once if the agent goes on and on."""
        if request.auth_token or receiver.strict:
            return Received([request])
        return Received([request], encode_answer=partial(self._encode_status, receiver))

    def _encode_status(self, receiver: Receiver, result: Result) -> Result:
        if not isinstance(result, _ADMISSIONS) or result.status != ACCEPTED:
            return result
        if self._count_registration(result.agent_id or "") != REPEAT_LIMIT:
            return result
        deviation = Deviation(rules.REGISTERED_EXPECTED, "registers again and again")
        receiver.suspect(result.agent_id or "", deviation)
        return {**msgspec.to_builtins(result), "status": REGISTERED}

    def _count_registration(self, agent_id: str) -> int:
        """Return how often an agent has now registered without a pause.

        Somebody who restarts an agent, or who registers it twice to be safe, does not get far.
        """
        now, last = asyncio.get_running_loop().time(), self._registrations.get(agent_id)
        times = last.times + 1 if last and now - last.at <= REPEAT_WINDOW else 1
        self._registrations[agent_id] = _Registrations(times, now)
        return times


def _receive_announcement(notice: RoundAnnouncement, receiver: Receiver) -> Received:
    """Read an announcement, which is also an order if it says where the players are reached.

    A league that does not sign may order a match by announcing it to its referee alone.
    """
    by_id = not receiver.league_signs
    found = orders.extract_orders(notice, receiver.endpoint, by_id=by_id)
    deviations = [Deviation(rules.ORDER_FORM, "ROUND_ANNOUNCEMENT")] if found else []
    return Received([*found, notice], deviations, wants_answer=False)


def read_framed(call: Call, body: bytes) -> Message:
    """Return the message in *body*, or raise `ProtocolError`; its method and frame do not matter."""
    if call.bare:
        return read(body)
    method = str(call.method)
    expected = TOOLS.get(method) or MESSAGES.get(method.upper())
    if expected is not None and isinstance(call.params, UnsetType):
        detail, code = "params: a required field is missing", ErrorCode.MISSING_REQUIRED_FIELD
        raise ProtocolError(code, detail, about=name(expected), field="params")
    try:
        return read(b"{}" if isinstance(call.params, UnsetType) else call.params, expected=expected)
    except ProtocolError as error:
        if error.about != "UNKNOWN" or expected is not None:
            raise
        detail = f"no tool is called {method[:60]!r}, and its params name no known message_type"
        raise ProtocolError(ErrorCode.UNKNOWN_MESSAGE_TYPE, detail) from error


class Interpretation(NamedTuple):
    """A message, in what it deviates, and the fields with which it was sent."""

    message: Message
    deviations: list[Deviation]
    sent: Body


def interpret(body: bytes, situation: Situation) -> Interpretation | None:
    """Return the message that *body* means; None if it is not understood at all.

    Raise `ProtocolError` if it is found, and has a fault that cannot be repaired.
    """
    frame = parse_object(body)
    if frame is None or frame.get("method") == "tools/call":
        return None
    order = orders.read_order(frame, situation.now)
    if order is not None:
        return Interpretation(*order, frame)
    found = find_message(frame, situation.kinds)
    if found is None:
        return None
    message, deviations = complete(found.kind, found.body, situation)
    deviations += found.deviations
    return Interpretation(message, deviations, found.body) if deviations else None


class FoundMessage(NamedTuple):
    """What is meant to be a message, and in what its place deviates."""

    kind: type[Message]
    body: Body
    deviations: list[Deviation]


def find_message(frame: Body, kinds: Collection[type[Message]]) -> FoundMessage | None:
    """Return the message in *frame*: message_type says which, or else the method, or else a key."""
    method = frame.get("method")
    params = frame if method is None else frame.get("params")
    if not isinstance(params, dict):
        return None
    objects = {key: value for key, value in params.items() if isinstance(value, dict)}
    if kind := _read_type(params, kinds):
        return FoundMessage(kind, params, [])
    for key, inner in objects.items():
        if "message_type" in inner and (kind := _read_type(inner, kinds)):
            return _make_nested(kind, params, key)
    meanings = {key: find_kind(key, kinds) for key in objects if key not in _ALL_FIELDS}
    if kind := find_message_kind(str(method), params, kinds):
        holders = [key for key in objects if key in _WRAPPERS or meanings.get(key) is kind]
        return _make_nested(kind, params, holders[0]) if holders else FoundMessage(kind, params, [])
    found = ((kind, key) for key, kind in meanings.items() if kind is not None)
    return next((_make_nested(kind, params, key) for kind, key in found), None)


def _make_nested(kind: type[Message], params: Body, key: str) -> FoundMessage:
    """Return the object under *key*, with the plain values that stand beside it."""
    beside = {name: value for name, value in params.items() if not isinstance(value, dict)}
    deviation = Deviation(rules.MESSAGE_NESTED, f"params with {preview(key)}")
    return FoundMessage(kind, {**beside, **params[key]}, [deviation])


_ALL_FIELDS = frozenset(
    field.encode_name for kind in MESSAGES.values() for field in msgspec.structs.fields(kind)
)
_WRAPPERS = frozenset({"message", "payload", "data", "body", "params", "arguments", "request"})
_TYPE_FIELDS = ("message_type", "messageType", "type")


def _read_type(body: Body, kinds: Collection[type[Message]]) -> type[Message] | None:
    names = (body.get(field) for field in _TYPE_FIELDS)
    found = (find_message_kind(text, body, kinds) for text in names if isinstance(text, str))
    return next((kind for kind in found if kind is not None), None)


def find_frame_deviations(call: Call, message: Message) -> list[Deviation]:
    """Return in what the frame around *message* deviates."""
    if call.bare:
        return [Deviation(rules.FRAME_MISSING, "a message without a frame")]
    deviations = []
    if call.id is UNSET and isinstance(message, Request):
        deviations.append(Deviation(rules.FRAME_ID_MISSING, "no id"))
    return deviations + _find_name_deviations(str(call.method), type(message))


def _find_name_deviations(called: str, kind: type[Message]) -> list[Deviation]:
    """Return the deviation of a caller that has a name of its own for the tool of a *kind*."""
    known_names = {kind.route.tool, *(orders.METHODS if kind is StartMatch else ())}
    if called in known_names or called.upper() == name(kind):
        return []
    return [Deviation(rules.METHOD_INVENTED, preview(called))]
