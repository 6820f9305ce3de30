"""Messages of league.v2 that arrive, as the protocol and as third-party agents write them."""

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from agent_league.dialects.dialect import Reader, Received, Receiver
from agent_league.dialects.v2 import orders
from agent_league.dialects.v2.repairs import find_kind, parse_object, preview, repair
from agent_league.protocol import ErrorCode, Message, ProtocolError, Request, name, registration
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.jsonrpc import Call
from agent_league.protocol.message import Result
from agent_league.protocol.play import StartMatch
from agent_league.protocol.reading import MESSAGES, TOOLS, read, read_as
from agent_league.protocol.requirements import rules
from agent_league.protocol.rounds import RoundAnnouncement

Registration: TypeAlias = registration.RegisterPlayer | registration.RegisterReferee
_ADMISSIONS = (registration.PlayerRegistered, registration.RefereeRegistered)
ACCEPTED: Final = "ACCEPTED"
REGISTERED: Final = "REGISTERED"
REPEAT_LIMIT, REPEAT_WINDOW = 8, 10.0
"""An agent that registers so often, each time so soon after the last, does not know ACCEPTED."""


class _Registrations(NamedTuple):
    """How often an agent registered in a row, and when it did last."""

    times: int
    at: float


class V2Reader(Reader):
    """Understands every body that names a message, in whatever form; it refuses the others."""

    def __init__(self, kinds: Collection[type[Message]]) -> None:
        self._registrations: dict[str, _Registrations] = {}
        self.special = {
            registration.RegisterPlayer: self._receive_registration,
            registration.RegisterReferee: self._receive_registration,
            **({RoundAnnouncement: _receive_announcement} if StartMatch in kinds else {}),
        }

    def read(self, call: Call, body: bytes, receiver: Receiver) -> Received | None:
        try:
            message, deviations = read_framed(call, body), list[Deviation]()
        except ProtocolError:
            interpretation = interpret(body, receiver.now())
            if interpretation is None:
                raise
            message, deviations = interpretation
        deviations = [*find_frame_deviations(call, message), *deviations]
        if type(message) not in self.special:
            return Received([message], deviations, wants_answer=isinstance(message, Request))
        received = self.special[type(message)](message, receiver)
        return received._replace(deviations=[*deviations, *received.deviations])

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
    """Read an announcement, which is also an order if it says where the players are reached."""
    found = orders.extract_orders(notice, receiver.endpoint)
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
    """A message, and in what it deviates."""

    message: Message
    deviations: list[Deviation]


def interpret(body: bytes, now: str) -> Interpretation | None:
    """Return the message that *body* means; None if it is not understood at all.

    Raise `ProtocolError` if it is found, and has a fault that cannot be repaired.
    """
    frame = parse_object(body)
    if frame is None or frame.get("method") == "tools/call":
        return None
    order = orders.read_order(frame, now)
    if order is not None:
        return Interpretation(*order)
    payload = frame if "message_type" in frame and "method" not in frame else frame.get("params")
    if not isinstance(payload, dict):
        return None
    key, raw_message = "", payload
    if "message_type" not in payload:  # perhaps an object directly inside has one
        nested = (item for item in payload.items() if isinstance(item[1], dict))
        found = (item for item in nested if "message_type" in item[1])
        key, raw_message = next(found, ("", payload))
    kind = find_kind(raw_message.get("message_type"))
    if kind is None:
        return None
    repaired_body, deviations = repair(kind, raw_message, now)
    if raw_message is not payload:
        deviations.append(Deviation(rules.MESSAGE_NESTED, f"params with {preview(key)}"))
    return Interpretation(read_as(kind, repaired_body), deviations) if deviations else None


def find_frame_deviations(call: Call, message: Message) -> list[Deviation]:
    """Return in what the frame around *message* deviates."""
    if call.bare:
        return [Deviation(rules.FRAME_MISSING, "a message without a frame")]
    deviations = []
    if call.id is UNSET and isinstance(message, Request):
        deviations.append(Deviation(rules.FRAME_ID_MISSING, "no id"))
    method, known_methods = str(call.method), {message.route.tool}
    if isinstance(message, StartMatch):
        known_methods |= orders.METHODS
    if method not in known_methods and method.upper() != name(type(message)):
        deviations.append(Deviation(rules.METHOD_INVENTED, preview(method)))
    return deviations
