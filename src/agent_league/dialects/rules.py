"""Every habit of strangers that we know, as a rule: where it is written, what it expects, the cure.

Whoever breaks a rule is understood all the same in a tolerant league, and refused in a strict one.
The ids are for machines and stay what they are: events, reports and `league check` carry them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from agent_league.protocol import ErrorCode


class Rule(NamedTuple):
    """One way to deviate."""

    id: str
    seed: str
    """Where it is written: the number of the document, and its section."""
    expected: str
    mend: str
    """What the author of an agent does about it."""
    code: ErrorCode = ErrorCode.INVALID_FIELD_VALUE
    """What a strict league answers with."""


class Deviation(NamedTuple):
    """A rule that was broken, and what came instead: short, and without secrets."""

    rule: Rule
    got: str

    @property
    def sentence(self) -> str:
        return f"{self.rule.id}: expected {self.rule.expected}, got {self.got}"


_MISSING, _WRONG = ErrorCode.MISSING_REQUIRED_FIELD, ErrorCode.INVALID_FIELD_VALUE

FRAME_MISSING = Rule(
    "frame-missing",
    "001 Transport Layer",
    "a JSON-RPC 2.0 frame around the message",
    'send {"jsonrpc": "2.0", "method": TOOL, "params": MESSAGE, "id": 1}',
    _MISSING,
)
FRAME_ID_MISSING = Rule(
    "frame-id-missing",
    "001 Transport Layer",
    "an id in a request that wants an answer",
    'put "id" into the frame: a call without one is a notification, which nobody answers',
    _MISSING,
)
METHOD_INVENTED = Rule(
    "method-invented",
    "001 Complete Message Types Reference",
    "the tool's name, or the message_type, as method",
    'name the tool, such as "register_player", in "method"',
)
MESSAGE_NESTED = Rule(
    "message-nested",
    "002 1.4 JSON-RPC 2.0 Message Structure",
    "the message itself as params",
    "put the fields of the message straight into params, not into an object inside",
)
MESSAGE_TYPE_CASE = Rule(
    "message-type-case",
    "003 10.1 Complete Message Type Catalog",
    "message_type in capitals",
    "write message_type as the catalogue does, such as GAME_JOIN_ACK",
)
SENDER_FORM = Rule(
    "sender-form",
    "002 2.4.4 Sender Field Format",
    'sender "player:ID", "referee:ID" or "league_manager"',
    "write the role in the singular, a colon and the id that the league gave you",
)
SENDER_MISSING = Rule(
    "sender-missing",
    "003 10.2 Mandatory Fields",
    "a sender in every message",
    'add "sender"; before you are registered, "player:" and a name of your own',
    _MISSING,
)
TIMESTAMP_MISSING = Rule(
    "timestamp-missing",
    "003 10.2 Mandatory Fields",
    "a timestamp in every message",
    'add "timestamp", such as 2025-01-15T10:30:00Z',
    _MISSING,
)
TIMESTAMP_FORM = Rule(
    "timestamp-form",
    "003 10.4 Time Format Requirements",
    "ISO-8601 in UTC, as 2025-01-15T10:30:00Z",
    "end the time with Z or +00:00, not with both, and write its colons",
    ErrorCode.INVALID_TIMESTAMP,
)
NULL_FIELD = Rule(
    "null-field",
    "003 10.3 Allowed Values & Validation",
    "an optional field left out, not null",
    "leave out what you have nothing to say about",
)
REPLY_ID = Rule(
    "reply-id",
    "001 Transport Layer",
    "the id of the request in its answer",
    'copy "id" from the request into the answer, whatever type it has',
)
REPLY_IN_PARAMS = Rule(
    "reply-in-params",
    "002 1.4 JSON-RPC 2.0 Message Structure",
    "the answer in result",
    'answer {"jsonrpc": "2.0", "result": MESSAGE, "id": ID}: params belong to requests',
)
REPLY_WRAPPED = Rule(
    "reply-wrapped",
    "002 1.4 JSON-RPC 2.0 Message Structure",
    "the message itself as result",
    "return the message as result, not an object or a text that holds it",
)
REPLY_UNFRAMED = Rule(
    "reply-unframed",
    "001 Transport Layer",
    "a JSON-RPC 2.0 frame around the answer",
    'answer a framed request with {"jsonrpc": "2.0", "result": MESSAGE, "id": ID}',
    _MISSING,
)
REPLY_ERROR_NULL = Rule(
    "reply-error-null",
    "001 Transport Layer",
    "either result or error",
    'leave out "error" when there is none: JSON-RPC 2.0 allows only one of the two',
)
REPLY_ENVELOPE = Rule(
    "reply-envelope",
    "003 10.2 Mandatory Fields",
    "the whole message as answer, with its envelope",
    "fill in protocol, message_type, sender, timestamp, conversation_id and the ids of the match",
    _MISSING,
)
ACCEPT_FIELD = Rule(
    "accept-field",
    "003 5.2 GAME_JOIN_ACK",
    '"accept": true or false',
    'rename the field to "accept" and give it true or false',
    _MISSING,
)
CHOICE_FIELD = Rule(
    "choice-field",
    "003 6.2 CHOOSE_PARITY_RESPONSE",
    '"parity_choice": "even" or "odd"',
    'rename the field to "parity_choice"',
    _MISSING,
)
PLAYER_ID_OTHER = Rule(
    "player-id-other",
    "003 3.4 LEAGUE_REGISTER_RESPONSE",
    "the player_id that the league gave",
    "take player_id from the answer to your registration, and use no other",
)
LATER_ANSWER = Rule(
    "later-answer",
    "003 5.2 GAME_JOIN_ACK",
    "the answer as the result of the call",
    "return the message from the call itself instead of posting it later",
)
REGISTERED_EXPECTED = Rule(
    "registered-expected",
    "003 3.4 LEAGUE_REGISTER_RESPONSE",
    'status "ACCEPTED" understood as success',
    'compare the status with "ACCEPTED" or "REJECTED": there is no "REGISTERED"',
)
OK_TO_UNKNOWN = Rule(
    "ok-to-unknown",
    "001 Transport Layer",
    "error -32601 for a method that is not known",
    'answer what you do not know with {"code": -32601}, or learn the tool\'s name',
)
BARE_ONLY = Rule(
    "bare-only",
    "001 Transport Layer",
    "a message understood in its JSON-RPC frame",
    "read the message from params of the frame",
)
RIGHT_REFUSED = Rule(
    "right-refused",
    "003 14.5 Backward Compatibility",
    "every right message taken: fractions of seconds, league_manager, unknown fields",
    "ignore fields that you do not know, and read times with a library",
)
RATE_LIMIT = Rule(
    "rate-limit",
    "003 14.2 Timeout Limits",
    "an answer to every call of a match",
    "take the calls of your own matches out of the limit",
    ErrorCode.TOO_MANY_REQUESTS,
)
ORDER_FORM = Rule(
    "order-form",
    "001 Agent Types",
    "a referee that is started by start_match",
    "serve the tool start_match (docs/protocol.md, START_MATCH)",
)
QUERY_FORM = Rule(
    "query-form",
    "003 8.1 LEAGUE_QUERY",
    "GET_STANDINGS, GET_SCHEDULE, GET_NEXT_MATCH or GET_PLAYER_STATS, with query_params",
    "ask one of the four questions, and give query_params, {} if there are none",
)
REPORT_FORM = Rule(
    "report-form",
    "003 7.1 MATCH_RESULT_REPORT",
    "result with winner, score and details",
    'report {"result": {"winner": ID or null, "score": {...}, "details": {...}}}',
    _MISSING,
)
REPORT_SCORE = Rule(
    "report-score",
    "003 7.1 MATCH_RESULT_REPORT",
    "a score that follows from the winner",
    "give 3 points to the winner, 1 to each in a draw; the league counts by the winner",
)
REPORT_TICKET = Rule(
    "report-ticket",
    "001 Agent Types",
    "the ticket that came with the match in its report",
    "keep ticket from START_MATCH, and send it with the report",
    ErrorCode.AUTH_TOKEN_MISSING,
)
REGISTER_STATUS = Rule(
    "register-status",
    "003 3.4 LEAGUE_REGISTER_RESPONSE",
    'status "ACCEPTED" or "REJECTED", with the id',
    'answer a registration with "ACCEPTED" or "REJECTED"',
)
FIELD_MISSING = Rule(
    "field-missing",
    "003 10.2 Mandatory Fields",
    "every required field",
    "add the field that the error names",
    _MISSING,
)
FIELD_INVALID = Rule(
    "field-invalid",
    "003 10.3 Allowed Values & Validation",
    "fields of the right type and value",
    "write the field as the error says",
)
PROTOCOL_VERSION = Rule(
    "protocol-version",
    "002 2.10 Version Compatibility",
    '"protocol": "league.v2"',
    "speak league.v2",
    ErrorCode.PROTOCOL_VERSION_MISMATCH,
)
RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.id: rule for rule in list(globals().values()) if isinstance(rule, Rule)}
)
"""Every rule, by its id."""
