"""The forms in which a call can be written, and which to try when a peer does not understand one."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import msgspec

from agent_league.dialects.dialect import Outgoing
from agent_league.dialects.v2 import writings
from agent_league.dialects.v2.order_forms import ORDER_FORMS, OrderForm
from agent_league.protocol import ErrorCode, Message, Request, RpcCode, failures, jsonrpc, name
from agent_league.protocol.deviations import Deviation, Ledger
from agent_league.protocol.failures import NoAnswerError, RefusedError
from agent_league.protocol.play import StartMatch
from agent_league.protocol.requirements import rules

_encode = msgspec.json.Encoder().encode
GetMethod: TypeAlias = Callable[[type[Message]], str]
"""Returns the method of the frame around a kind of message."""
Write: TypeAlias = Callable[[Outgoing], bytes]
"""Writes a message in another way."""


class Framing(NamedTuple):
    """How a call is written: its frame, its text, or the form of a third-party agent."""

    get_method: GetMethod | None
    """None: the message has no frame."""
    write: Write | None = None
    """None: as the protocol writes it."""
    form: OrderForm | None = None
    is_tool_call: bool = False
    """Whether the method is `tools/call`, with the name of the tool and the message inside."""

    @property
    def bare(self) -> bool:
        return self.get_method is None

    @property
    def address(self) -> tuple[GetMethod | None, OrderForm | None, bool]:
        """What is called, however the message is written."""
        return self.get_method, self.form, self.is_tool_call

    def encode(self, outgoing: Outgoing, number: int, url: str) -> bytes:
        if self.form is not None:
            order = {**msgspec.json.decode(outgoing.body), "referee_endpoint": url}
            return self.form.write(order, number)
        body = self.write(outgoing) if self.write else outgoing.body
        if self.get_method is None:
            return body
        method = self.get_method(outgoing.kind)
        if self.is_tool_call:
            tool = _encode(method)
            method, body = "tools/call", b'{"name":%b,"arguments":%b}' % (tool, body)
        return jsonrpc.encode_call(method, body, number)


def _get_tool(kind: type[Message]) -> str:
    return kind.route.tool


def _get_lower_type(kind: type[Message]) -> str:
    return name(kind).lower()


DEFAULT_FRAMING: Final = Framing(_get_tool)
_BY_TYPE, _BARE = Framing(name), Framing(None)
_BY_NAME = (DEFAULT_FRAMING, _BY_TYPE, Framing(_get_lower_type))
_CALLS = (*_BY_NAME, Framing(_get_tool, is_tool_call=True), _BARE)
_RIGHT_FRAMINGS = (DEFAULT_FRAMING, _BY_TYPE, _BARE)
_NESTED = tuple(call._replace(write=writings.write_nested) for call in _BY_NAME[:2])
_TEXTUAL = tuple(call._replace(write=writings.write_rounds_as_text) for call in _BY_NAME)
_NOTICE_FRAMINGS = (
    *_CALLS,
    *(call._replace(write=writings.write_plain) for call in _CALLS),
    *_TEXTUAL,
)
_REQUEST_FRAMINGS = (*_NOTICE_FRAMINGS, *_NESTED)
"""The forms of a call, in the order in which a peer that does not understand is tried."""
_ORDER_FRAMINGS = (
    *_RIGHT_FRAMINGS,
    *(
        Framing(_get_tool if form.path is None else None, None, form, form.is_tool_call)
        for form in ORDER_FORMS
    ),
)


def list_framings(kind: type[Message], *, strict: bool = False) -> Sequence[Framing]:
    """Return the forms of a *kind*; if *strict*, only those with the right message."""
    if strict:
        return _RIGHT_FRAMINGS
    if kind is StartMatch:
        return _ORDER_FRAMINGS
    return _REQUEST_FRAMINGS if issubclass(kind, Request) else _NOTICE_FRAMINGS


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
    reason: str | None = None
    """Why the peer did not take the right form, if it has read another and refused what it said."""


class FramingAttempts:
    """The forms in which one call was tried, and how each failed."""

    def __init__(
        self,
        kind: type[Message],
        record: KindRecord,
        ledger: Ledger,
        *,
        knows_no_notice: bool = False,
    ) -> None:
        """With *knows_no_notice*, the peer has understood another notice in no form at all."""
        self.record, self.ledger, self._kind = record, ledger, kind
        framings = list_framings(kind, strict=ledger.strict)
        if record.hopeless and not ledger.strict:
            framings = ()
        elif knows_no_notice and not issubclass(kind, Request):
            framings = _BY_NAME[:2]
        self._framings = framings
        self.errors: dict[Framing, NoAnswerError] = {}

    @property
    def has_unknown_error(self) -> bool:
        """Whether the peer has reported that it does not know another form."""
        return any(map(failures.is_unknown, self.errors.values()))

    def choose_next(self, framing: Framing, error: NoAnswerError) -> Framing:
        """Return the form to try next for a peer that does not understand, or raise."""
        if framing.form is not None and isinstance(error, failures.NoPathError):
            error = RefusedError(RpcCode.METHOD_NOT_FOUND, str(error))  # it may have another path
        has_answered = bool(self.errors)  # then only this form breaks the connection
        if failures.is_final(error) and not (
            has_answered and isinstance(error, failures.UnreachableError)
        ):
            if has_answered and not isinstance(error, failures.LateError):
                # It was read: only what it says is not liked.
                self.record.framing, self.record.reason = framing, str(self._choose_reason())
            raise error
        self.errors[framing] = error
        if self.ledger.strict and not framing.bare and _refuses_form(error):
            self.ledger.add(Deviation(rules.RIGHT_REFUSED, _shorten(error)))
        first = next(iter(self.errors.values()))
        remaining = [other for other in self._framings if self._may_try(other)]
        if not remaining and len(self.errors) > 1:
            self.record.hopeless, self.record.framing = True, None
            if self.ledger.strict and self._kind is StartMatch:
                self.ledger.add(Deviation(rules.ORDER_FORM, str(self._choose_reason())[:80]))
        if not remaining or not self._may_help(first):
            raise self._choose_reason()
        not_understood = failures.is_unknown(error) or isinstance(error, _NOT_UNDERSTOOD)
        key = "write" if not_understood else "address"  # stays the same if possible
        similar = [other for other in remaining if getattr(other, key) == getattr(framing, key)]
        return (similar or remaining)[0]

    def _may_try(self, framing: Framing) -> bool:
        """Whether *framing* is new, and no answer has shown that it is not understood."""
        if framing in self.errors:
            return False
        return not any(_rules_out(tried, error, framing) for tried, error in self.errors.items())

    def _may_help(self, first: NoAnswerError) -> bool:
        """Whether another form may help a peer that has refused the first form so."""
        if failures.is_unknown(first) or isinstance(first, failures.NoReplyError):
            return True
        tolerant = any(framing.write or framing.form for framing in self._framings)
        return tolerant and (failures.is_unread(first) or isinstance(first, failures.CrashedError))

    def _choose_reason(self) -> NoAnswerError:
        """Return the error that tells most: what the peer says of a call that it knows."""
        told = [
            error
            for framing, error in self.errors.items()
            if not framing.bare and not failures.is_unknown(error)
        ]
        return (told or list(self.errors.values()))[0]

    def find_deviations(self, framing: Framing) -> Iterator[Deviation]:
        """Yield the deviations of a peer that understands only *framing*."""
        learned = self.record.reason or "learned before"
        reason = _shorten(next(iter(self.errors.values()), learned))
        if framing.form is not None:
            yield Deviation(rules.ORDER_FORM, f"a referee that is started by {framing.form.id}")
            return
        if framing.write is not None:
            refused = self.errors.get(framing._replace(write=None))
            yield Deviation(rules.RIGHT_REFUSED, _shorten(refused or reason))
        if framing.bare:
            yield Deviation(rules.BARE_ONLY, reason)
        if any(isinstance(error, _NOT_UNDERSTOOD) for error in self.errors.values()):
            yield Deviation(rules.OK_TO_UNKNOWN, reason)


def _shorten(error: object) -> str:
    """Return what a peer says in one line that is not too long."""
    return " ".join(str(error).split())[:80]


_NOT_UNDERSTOOD = (failures.NoReplyError, failures.CrashedError)
"""The answers of a peer that does not understand, and does not say so."""


def _refuses_form(error: NoAnswerError) -> bool:
    """Whether a peer refuses a right message, and has not only failed on it."""
    has_failed = error.code is ErrorCode.CONNECTION_ERROR or isinstance(error, failures.FailedError)
    is_unread = failures.is_unread(error) and not failures.is_unknown(error)
    return is_unread and (not has_failed or bool(_INVALID.search(str(error))))


_INVALID = re.compile(r"\b(in)?valid|must be|required|missing|expected", re.IGNORECASE)
"""The words of a peer that finds fault with a message, whatever code it gives that."""


def _rules_out(tried: Framing, error: NoAnswerError, other: Framing) -> bool:
    """Whether the *error* of a form that was *tried* shows that the *other* will not do either.

    A call that is unknown is so however the message is written, unless the peer looks for the
    message in another place. What it does not like about a message, it does not like in other calls.
    """
    if tried.address == other.address and other.write is not writings.write_nested:
        is_invalid = isinstance(error, RefusedError) and error.rpc_code == RpcCode.INVALID_REQUEST
        return failures.is_unknown(error) or (tried.bare and is_invalid)
    is_same_text = other.write is not None and tried.write is other.write
    return is_same_text and failures.is_unread(error)
