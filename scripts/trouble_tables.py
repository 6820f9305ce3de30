"""The tables of docs/troubleshooting.md: every code that the product has, its cause and its fix.

The codes come from the code. A code without a text here, or a text without a code, is an error.
"""

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path

from agent_league.cli.exit_codes import Exit
from agent_league.protocol import ErrorCode, RpcCode
from agent_league.protocol.results import Termination

SOURCES = Path(__file__).parent.parent / "src" / "agent_league"
STATUS = re.compile(r"(?:make_error_answer|\bAnswer)\(([45]\d{2}),")

Advice = tuple[str, str]
"""The cause of a code, and what to do."""

ERROR_ADVICE: Mapping[ErrorCode, Advice] = {
    ErrorCode.TIMEOUT_ERROR: (
        "an agent did not answer in time: 5 s for an invitation, 30 s for a move",
        "answer faster: decide before the deadline, and play a simple move if time runs out",
    ),
    ErrorCode.MISSING_REQUIRED_FIELD: (
        "a required field is not there, or is `null`; `detail` names it",
        "add the field ([fields](protocol.md#fields-and-examples))",
    ),
    ErrorCode.INVALID_PARITY_CHOICE: (
        "`parity_choice` is not exactly `even` or `odd`",
        "send small letters, as text; you may correct it until the deadline",
    ),
    ErrorCode.PLAYER_NOT_REGISTERED: (
        "the league knows no player of this id",
        "use the `player_id` that the league gave you when you registered",
    ),
    ErrorCode.CONNECTION_ERROR: (
        "nobody listens at the address of an agent, or it hung up",
        "start the agent; compare its `contact_endpoint` with the address at which it listens",
    ),
    ErrorCode.AUTH_TOKEN_MISSING: (
        "the message has no `auth_token`, and needs one",
        "send the token from your registration; the organiser's orders need the organiser's token",
    ),
    ErrorCode.AUTH_TOKEN_INVALID: (
        "the token is wrong, belongs to somebody else, was not used for 24 hours, or was replaced",
        "register again from the same address: you get the same id and a new token",
    ),
    ErrorCode.REFEREE_NOT_REGISTERED: (
        "a referee reports or takes a match, but is in no league",
        "register the referee first; after a restart, register again",
    ),
    ErrorCode.MATCH_ID_MISMATCH: (
        "the answer or the report is about another match, or about one that does not exist",
        "repeat the `match_id` of the request; keep the matches apart that run at the same time",
    ),
    ErrorCode.PROTOCOL_VERSION_MISMATCH: (
        "`protocol` or `protocol_version` is a version that this league does not speak",
        "send `league.v2`; a league that admits league.v1 says so",
    ),
    ErrorCode.LATE_REGISTRATION: (
        "the league has begun",
        "wait for the next league; ask the organiser",
    ),
    ErrorCode.INVALID_TIMESTAMP: (
        "a time is not in UTC, or not in the right form",
        "write `2025-01-15T10:30:00Z`; take the time in UTC, not the local time",
    ),
    ErrorCode.INVALID_FIELD_VALUE: (
        "a field has the wrong type or a value that is not allowed; `detail` says which",
        "numbers without quotes, `true` and not `1`, words exactly as in the table of the message",
    ),
    ErrorCode.UNKNOWN_MESSAGE_TYPE: (
        "the receiver does not know this message, or this tool",
        "compare `message_type` with the [list](protocol.md#messages); is it the right receiver?",
    ),
    ErrorCode.ILLEGAL_MOVE: (
        "the move is against the rules of the game, or not its turn",
        "choose from `legal_moves` of the call; you may correct it until the deadline",
    ),
    ErrorCode.NOT_ALLOWED: (
        "the token is right, but does not allow this; or an agent refused without a code of ours",
        "read `detail`: a player cannot report results, nor a referee one of another's matches",
    ),
    ErrorCode.MESSAGE_TOO_LARGE: (
        "the message is longer than 10 KB",
        "leave out what the receiver does not need",
    ),
    ErrorCode.TOO_MANY_REQUESTS: (
        "you ask too often, or too many of your requests were refused (SECURITY.md, Limits)",
        "wait a second, then send it again; do not poll without a pause",
    ),
}

RPC_ADVICE: Mapping[RpcCode, Advice] = {
    RpcCode.PARSE_ERROR: ("the body is not JSON", "look at the bytes that you send: `curl -v`"),
    RpcCode.INVALID_REQUEST: (
        "it is JSON, but not a request",
        'send an object with `"jsonrpc": "2.0"`, a `method` and an `id`',
    ),
    RpcCode.METHOD_NOT_FOUND: (
        "the receiver has no such method, or does not know the message (E023)",
        "use the name of the tool ([list](protocol.md#messages))",
    ),
    RpcCode.INVALID_PARAMS: (
        "the message is wrong; `data.error_code` says how",
        "see that code above",
    ),
    RpcCode.INTERNAL_ERROR: (
        "the receiver made a mistake of its own",
        "in your agent: read its output; in ours: please report it",
    ),
}

STATUS_ADVICE: Mapping[int, Advice] = {
    400: ("this is not HTTP", "is it `https://` where it must be `http://`?"),
    401: (
        "the league asks an OAuth server who you are (`--issuer`)",
        "get a token as `/.well-known/oauth-protected-resource` says, and send it as a bearer",
    ),
    403: ("a web page of another site calls the agent", "call it from a program, not from a page"),
    404: ("there is nothing at this path", "the path is `/mcp`"),
    405: ("the method is wrong for this path", "`POST` to `/mcp`; pages are read with `GET`"),
    408: ("the request did not arrive in time", "send the whole request at once"),
    413: ("the body is too long (E026)", "at most 10 KB"),
    415: ("the body is not said to be JSON", "send `Content-Type: application/json`"),
    421: (
        "the agent listens for its own machine only, and was called by another name",
        "use `127.0.0.1`, or start it with `--host 0.0.0.0` ([campus](campus.md))",
    ),
    429: ("you ask too often (E027)", "wait a second, then send it again"),
    431: ("the headers are too long", "send fewer headers, or smaller cookies"),
    500: ("the receiver made a mistake of its own", "please report it"),
    501: ("the request asks for a protocol other than HTTP/1.1", "no upgrade, no WebSocket"),
    503: ("the agent is not ready, or nobody plays this guest's seat", "try again later"),
}

EXIT_ADVICE: Mapping[Exit, str] = {
    Exit.OK: "nothing",
    Exit.NO: "read the output: a rule is broken, a registration was refused, a criterion not met",
    Exit.USAGE: "read the line that begins with `hint:`; `league COMMAND --help`",
    Exit.ENVIRONMENT: "another program has the port, or a file cannot be written: the text says which",
    Exit.UNREACHABLE: "start the agent or the league; compare the address",
    Exit.PROTOCOL: "read the text: the other side answered something that the protocol does not allow",
    Exit.BUG: "please report it, with the file that is named",
    Exit.INTERRUPTED: "you pressed Ctrl-C; `league resume` goes on with a league",
}

TERMINATION_ADVICE: Mapping[Termination, str] = {
    Termination.COMPLETED: "the match was played to its end",
    Termination.DECLINED: "the player answered the invitation with `accept: false`",
    Termination.TIMEOUT: "the player did not answer in time, three times (E001)",
    Termination.UNREACHABLE: "nobody listened at the player's address, three times (E009)",
    Termination.INVALID_REPLY: "the answers were no messages of the protocol",
    Termination.INVALID_MOVE: "no legal move came until the deadline (E004, E024)",
    Termination.ERROR_REPLY: "the player answered with an error",
    Termination.TOOLS_CHANGED: "an MCP server changed its tools during the league",
    Termination.SUSPENDED: "the player was suspended when the match began",
    Termination.DISQUALIFIED: "the player was disqualified",
    Termination.FORFEIT: "a referee of somebody else reported it without a reason",
    Termination.NOT_PLAYED: "a third-party referee ended it without a result, three times: it is void",
    Termination.BOTH_FORFEIT: "both players failed, each for a reason of its own",
}


def list_statuses() -> list[int]:
    """Return every HTTP status of an error that an agent of ours answers with."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.glob("*/*.py"))
    return sorted({int(status) for status in STATUS.findall(text)})


def list_error_rows() -> Iterable[list[str]]:
    return [[code, f"`{code.name}`", str(code.rpc), *ERROR_ADVICE[code]] for code in ErrorCode]


def list_rpc_rows() -> Iterable[list[str]]:
    return [[str(int(code)), *RPC_ADVICE[code]] for code in RpcCode]


def list_status_rows() -> Iterable[list[str]]:
    unknown = STATUS_ADVICE.keys() - {*list_statuses()}
    if unknown:
        raise ValueError(f"no agent answers with {unknown}")
    return [
        [f"{status} {HTTPStatus(status).phrase}", *STATUS_ADVICE[status]]
        for status in list_statuses()
    ]


def list_exit_rows() -> Iterable[list[str]]:
    return [[str(int(code)), code.meaning, EXIT_ADVICE[code]] for code in Exit]


def list_termination_rows() -> Iterable[list[str]]:
    return [[f"`{end}`", TERMINATION_ADVICE[end]] for end in Termination]
