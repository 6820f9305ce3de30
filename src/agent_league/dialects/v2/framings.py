"""The forms in which a call can be written, and which to try when a peer does not understand one."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import msgspec

from agent_league.dialects.dialect import Outgoing
from agent_league.dialects.v2.orders import ORDER_FORMS, OrderForm
from agent_league.protocol import ErrorCode, Message, Role, RpcCode, failures, jsonrpc, name
from agent_league.protocol.deviations import Deviation, Ledger
from agent_league.protocol.error_messages import GameErrorMessage, LeagueErrorMessage
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.play import ResultReport, StartMatch
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

_encode = msgspec.json.Encoder().encode
_EXTENSION_FIELDS: Mapping[type[Message], frozenset[str]] = {
    LeagueErrorMessage: frozenset({"error_name", "detail", "retryable"}),
    GameErrorMessage: frozenset({"error_name", "detail", "retryable", "context"}),
    ResultReport: frozenset({"ticket", "transcript", "violations"}),
}
"""The fields that we add to those of the specification."""


def write_plain(kind: type[Message], body: bytes) -> bytes:
    """Return a message like the examples: `league_manager:LM01`, no field of ours."""
    fields = msgspec.json.decode(body)
    if fields.get("sender") == Role.LEAGUE:
        fields["sender"] = f"{Role.LEAGUE}:LM01"
    for key in _EXTENSION_FIELDS.get(kind, ()):
        fields.pop(key, None)
    return _encode(fields)


def swap_ids(one: str, other: str, body: bytes) -> bytes:
    """Return *body* with two ids exchanged, for a peer that uses another id than we gave it."""
    names = {one: other, other: one}

    def swap(text: str) -> str:
        head, colon, tail = text.partition(":")
        if colon and head in {Role.PLAYER, "players"} and tail in names:
            return f"{head}:{names[tail]}"
        return names.get(text, text)

    message = _map_texts(msgspec.json.decode(body), swap)
    result = message.get("game_result")
    if isinstance(result, dict) and isinstance(result.get("reason"), str):
        words = re.compile(rf"\b({re.escape(one)}|{re.escape(other)})\b")
        result["reason"] = words.sub(lambda found: names[found[0]], result["reason"])
    return _encode(message)


def _map_texts(node: Json, change: Callable[[str], str]) -> Json:
    """Return *node* with every text in it changed, also in keys."""
    if isinstance(node, str):
        return change(node)
    if isinstance(node, dict):
        return {change(key): _map_texts(value, change) for key, value in node.items()}
    return [_map_texts(item, change) for item in node] if isinstance(node, list) else node


GetMethod: TypeAlias = Callable[[type[Message]], str]
"""Returns the method of the frame around a kind of message."""


class Framing(NamedTuple):
    """How a call is written: its frame, its text, or the form of a third-party agent."""

    get_method: GetMethod | None
    """None: the message has no frame."""
    plain: bool = False
    form: OrderForm | None = None

    @property
    def bare(self) -> bool:
        return self.get_method is None

    def encode(self, outgoing: Outgoing, number: int, url: str) -> bytes:
        if self.form is not None:
            order = {**msgspec.json.decode(outgoing.body), "referee_endpoint": url}
            return jsonrpc.encode_call(self.form.method, _encode(self.form.params(order)), number)
        kind, body = outgoing.kind, outgoing.body
        if self.plain:
            body = write_plain(kind, body)
        if self.get_method is None:
            return body
        return jsonrpc.encode_call(self.get_method(kind), body, number)


def _get_tool(kind: type[Message]) -> str:
    return kind.route.tool


_FRAMINGS = tuple(
    Framing(get_method, plain) for plain in (False, True) for get_method in (_get_tool, name, None)
)
"""The forms of a call, in the order in which a peer that does not understand is tried."""
DEFAULT_FRAMING = _FRAMINGS[0]


_RIGHT_FRAMINGS = tuple(framing for framing in _FRAMINGS if not framing.plain)
_ORDER_FRAMINGS = (*_RIGHT_FRAMINGS, *(Framing(_get_tool, form=form) for form in ORDER_FORMS))


def list_framings(kind: type[Message], *, strict: bool = False) -> tuple[Framing, ...]:
    """Return the forms of a *kind*; if *strict*, only those with the right message."""
    if strict:
        return _RIGHT_FRAMINGS
    return _ORDER_FRAMINGS if kind is StartMatch else _FRAMINGS


@dataclass
class KindRecord:
    """What is known of how a peer takes one kind of message."""

    framing: Framing | None = None
    """The form that the peer understands; None: the form of other kinds."""
    hopeless: bool = False
    """Whether the peer understood no form."""
    doubtful: bool = False
    """Whether the last answer did not show that the peer understood."""
    proven: bool = False
    """Whether the peer once did what was asked for."""
    reworded: bool = False
    """Whether the peer has answered in other words than those of the protocol."""


class FramingAttempts:
    """The forms in which one call was tried, and how each failed."""

    def __init__(self, kind: type[Message], record: KindRecord, ledger: Ledger) -> None:
        self.record, self.ledger = record, ledger
        given_up = record.hopeless and not ledger.strict
        self._framings = () if given_up else list_framings(kind, strict=ledger.strict)
        self.errors: dict[Framing, NoAnswerError] = {}

    @property
    def has_unknown_error(self) -> bool:
        """Whether the peer has reported that it does not know another form."""
        return any(map(_is_unknown_method, self.errors.values()))

    def choose_next(self, framing: Framing, error: NoAnswerError) -> Framing:
        """Return the form to try next for a peer that does not understand, or raise."""
        self.errors[framing] = error
        first = next(iter(self.errors.values()))
        if self.ledger.strict and is_format_refusal(error):  # a right message was refused
            self.ledger.add(Deviation(rules.RIGHT_REFUSED, str(error)[:80]))
        remaining = [other for other in self._framings if other not in self.errors]
        if not remaining and len(self.errors) > 1:
            self.record.hopeless, self.record.framing = True, None
        may_pass = isinstance(error, (failures.LateError, failures.UnreachableError))
        is_transient = may_pass and not isinstance(error, failures.CrashedError)
        if is_transient or not self._may_help(first):
            raise error
        if not remaining:
            raise first
        not_understood = _is_unknown_method(error) or isinstance(error, _NOT_UNDERSTOOD)
        key = "plain" if not_understood else "get_method"  # stays the same if possible
        similar = [other for other in remaining if getattr(other, key) == getattr(framing, key)]
        return (similar or remaining)[0]

    def _may_help(self, first: NoAnswerError) -> bool:
        """Whether another form may help a peer that has refused the first form so."""
        if _is_unknown_method(first) or isinstance(first, failures.NoReplyError):
            return True
        tolerant = any(framing.plain or framing.form for framing in self._framings)
        return tolerant and (is_format_refusal(first) or isinstance(first, failures.CrashedError))

    def find_deviations(self, framing: Framing) -> Iterator[Deviation]:
        """Yield the deviations of a peer that understands only *framing*."""
        reason = str(next(iter(self.errors.values()), "learned before"))[:80]
        if framing.form is not None:
            yield Deviation(rules.ORDER_FORM, f"a referee that is started by {framing.form.id}")
            return
        if framing.plain:
            yield Deviation(rules.RIGHT_REFUSED, reason)
        if framing.bare:
            yield Deviation(rules.BARE_ONLY, reason)
        if any(isinstance(error, _NOT_UNDERSTOOD) for error in self.errors.values()):
            yield Deviation(rules.OK_TO_UNKNOWN, reason)


_NOT_UNDERSTOOD = (failures.NoReplyError, failures.CrashedError)
"""The answers of a peer that does not understand, and does not say so."""
_FORMAT_RPC_CODES = {RpcCode.PARSE_ERROR, RpcCode.INVALID_REQUEST, RpcCode.INVALID_PARAMS}
_FORMAT_ERROR_CODES = {
    ErrorCode.NOT_ALLOWED,  # also stands for every code that is not ours
    ErrorCode.MISSING_REQUIRED_FIELD,
    ErrorCode.INVALID_TIMESTAMP,
    ErrorCode.INVALID_FIELD_VALUE,
}


def is_format_refusal(error: NoAnswerError) -> bool:
    """Whether a peer refuses the form of a message, not its content."""
    return (
        isinstance(error, failures.RefusedError)
        and error.rpc_code in _FORMAT_RPC_CODES
        and error.code in _FORMAT_ERROR_CODES
    )


def _is_unknown_method(error: NoAnswerError) -> bool:
    return isinstance(error, failures.RefusedError) and error.rpc_code == RpcCode.METHOD_NOT_FOUND
