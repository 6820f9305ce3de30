"""What the answer to a call holds: the result that was asked for, an error, or something else."""

import re
from functools import cache

import msgspec
from msgspec import Raw, UnsetType

from agent_league.dialects.v2 import replies
from agent_league.dialects.v2.repairs import preview
from agent_league.http.exchange import Answer
from agent_league.protocol import Message, Request, RpcCode, failures, jsonrpc, name
from agent_league.protocol.deviations import Deviation, Ledger
from agent_league.protocol.failures import NoAnswerError, NonsenseError, RefusedError
from agent_league.protocol.play import StartMatch
from agent_league.protocol.requirements import rules

_RATE_LIMIT_TEXT = re.compile(rb'(?i:rate.?limit|too many requests)|"E027\b')
"""An id that an error repeats may have the letters of the code in it."""


def check_errors(kind: type[Message], body: bytes, ledger: Ledger) -> None:
    """Raise the error that an answer holds in place of a result."""
    if b'"error"' in body and _RATE_LIMIT_TEXT.search(body):  # without HTTP's 429
        raise failures.BusyError("it gets too many requests")
    if b"_ERROR" in body and ledger.keeps_account:
        replies.check_error_message(kind, body)


@cache
def reply_name(kind: type[Message]) -> bytes | None:
    return name(kind.reply).encode() if issubclass(kind, Request) else None


def is_expected(kind: type[Message], body: bytes) -> bool:
    """Whether *body* may hold the reply to a *kind*; to a notice, anything but an error."""
    wanted = reply_name(kind)
    if wanted is None:
        return not has_error(body)
    return body.find(b'"error"') < 0 and body.find(wanted) >= 0


def has_error(body: bytes) -> bool:
    """Whether *body* may hold an error, of whatever kind."""
    # `find` is faster than `in`, which tries a number first.
    return body.find(b'"error"') >= 0 or body.find(b"_ERROR") >= 0


def make_no_reply_error(kind: type[Message], content: object, ledger: Ledger) -> NoAnswerError:
    promised = replies.is_promise(content) and kind is not StartMatch
    if ledger.strict:
        rule = rules.LATER_ANSWER if promised else rules.OK_TO_UNKNOWN
        ledger.add(Deviation(rule, preview(content)))
    if promised:
        is_sent = replies.says_sent(content)
        return failures.PromisedError("the answer is to come later", is_sent=is_sent)
    return failures.NoReplyError(f"not an answer to {name(kind)}: {preview(content)}")


def read_frame(number: int | None, answer: Answer) -> bytes | Raw:
    """Return the result in an answer that is as it must be, or raise the error that it stands for."""
    body = answer.body
    try:
        frame = jsonrpc.read_response(body)
    except jsonrpc.FrameError as error:
        raise NonsenseError(error.detail) from error
    if isinstance(frame.error, jsonrpc.RpcError):
        refusal = replies.get_refusal(answer.status)
        raise refusal(frame.error.code, frame.error.message, frame.error.data)
    if number not in (None, frame.id):
        raise NonsenseError(f"the answer has the id {frame.id!r}, the request had {number}")
    if not isinstance(frame.result, UnsetType):
        return frame.result
    if number is not None:
        raise NonsenseError("the answer has neither a result nor an error")
    message = msgspec.json.decode(body)  # it came without a frame
    if message.get("message_type") in {"LEAGUE_ERROR", "GAME_ERROR"}:
        detail = message.get("detail") or message.get("error_description")
        raise RefusedError(RpcCode.INVALID_REQUEST, str(detail), message)
    return body
