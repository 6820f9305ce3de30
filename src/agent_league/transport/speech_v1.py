"""How a peer that speaks league.v1 is spoken to."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final, NamedTuple, TypeAlias

import msgspec

from agent_league.dialects import Ledger
from agent_league.dialects.ledger import unmended
from agent_league.dialects.mending import Body, shown
from agent_league.dialects.v1_messages import MessageV1, builtins, name_v1
from agent_league.dialects.v1_outbound import Outbound
from agent_league.dialects.v1_replies import ANSWERS, find_v1, meant_v1
from agent_league.dialects.versions import V1
from agent_league.protocol import Acknowledgement, ProtocolError, Request, name
from agent_league.protocol.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    call,
)
from agent_league.transport.exchange import Answer, Post
from agent_league.transport.failures import (
    CrashedError,
    NoAnswerError,
    NonsenseError,
    NoReplyError,
    RefusedError,
)
from agent_league.transport.speech import Letter
from agent_league.vocabulary import Json

_encode = msgspec.json.Encoder().encode
_OK: Final = _encode(Acknowledgement())
_REFUSED: Final = 400
"""The first HTTP status that says no."""
_LOST: Final = {METHOD_NOT_FOUND, INVALID_REQUEST, INVALID_PARAMS, PARSE_ERROR}
"""What a peer says that wants the same message in another frame."""


def _by_type(message: MessageV1, number: int) -> bytes:
    return call(name_v1(type(message)), _encode(message), number)


def _by_handler(message: MessageV1, number: int) -> bytes:
    return call("handle_message", _encode(message), number)


def _bare(message: MessageV1, number: int) -> bytes:
    return _encode(message)


Frame: TypeAlias = Callable[[MessageV1, int], bytes]
FRAMES: tuple[Frame, ...] = (_by_type, _by_handler, _bare)
"""How a message may be put; document 000 leaves it open, so a peer is tried with each in turn."""


class _Asked(NamedTuple):
    """What is asked: the kind that must be found in the answer, None if any will do."""

    message: MessageV1
    wanted: type[MessageV1] | None


class SpeechV1:
    """Speaks league.v1 to the peer *who* at *url*, in the frame that it turns out to like."""

    dialect = V1

    def __init__(self, url: str, post: Post, who: str) -> None:
        self._url, self._post, self._who = url, post, who
        self._numbers: Iterator[int] = count(1)
        self._outbound = Outbound(who)
        self._frame: Frame | None = None
        """The frame in which the peer has answered a question."""

    async def deliver(self, letter: Letter, within: float, ledger: Ledger | None = None) -> bytes:
        """Return the result of *letter* as league.v2 writes it, or raise a `NoAnswerError`."""
        ends = asyncio.get_running_loop().time() + within
        said = msgspec.json.decode(letter.body)
        messages = self._outbound.put(letter.kind, said, within, letter.aside)
        if messages is None and issubclass(letter.kind, Request):
            raise RefusedError(METHOD_NOT_FOUND, f"league.v1 has no {name(letter.kind)}")
        if not messages:
            return _OK
        *first, last = messages
        for message in first:
            await self._mentioned(message, ends)
        wanted = ANSWERS.get(letter.kind)
        answer = await self._asked(_Asked(last, wanted), ends)
        if wanted is None:
            return _OK
        return self._meant(letter, said, last, answer, ledger)

    def _meant(
        self, letter: Letter, said: Body, asked: MessageV1, answer: Json, ledger: Ledger | None
    ) -> bytes:
        found = find_v1(answer, ANSWERS[letter.kind]) or {}
        echo = {**builtins(asked), "sender": self._outbound.who}
        try:
            meant = meant_v1(letter.kind, said, found, echo, self._who)
        except ProtocolError as error:
            if ledger is not None:
                ledger.add(unmended(error.code, error.detail))
            raise
        if ledger is not None:
            ledger.note(meant.deviations)
        elif meant.deviations:
            raise NonsenseError(meant.deviations[0].sentence, meant.deviations[0].rule.code)
        if "play" in found:
            self._outbound.played(str(said.get("match_id")), found["play"])
        return _encode(meant.body)

    async def _mentioned(self, message: MessageV1, ends: float) -> None:
        """Say *message*, which comes before another; a peer may do without it."""
        try:
            await self._asked(_Asked(message, None), ends)
        except (NonsenseError, RefusedError):
            return

    async def _asked(self, asked: _Asked, ends: float) -> Json:
        """Return the answer to *asked*, in the first frame in which it is one."""
        first: NoAnswerError | None = None
        for frame in (self._frame,) if self._frame else FRAMES:
            try:
                answer = await self._sent(asked, frame, ends)
            except (NoReplyError, RefusedError, CrashedError) as error:
                first = first or error
                if isinstance(error, RefusedError) and error.rpc_code not in _LOST:
                    raise
                continue
            if asked.wanted is not None:
                self._frame = frame
            return answer
        raise first or NoReplyError("there is no way to say it")

    async def _sent(self, asked: _Asked, frame: Frame, ends: float) -> Json:
        left = max(0.0, ends - asyncio.get_running_loop().time())
        body = frame(asked.message, next(self._numbers))
        answer = await self._post(self._url, body, left)
        said = _read(answer)
        if asked.wanted is not None and find_v1(said, asked.wanted) is None:
            wanted = name_v1(asked.wanted)
            raise NoReplyError(f"expected {wanted}, got {shown(said)}")
        return said


def _read(answer: Answer) -> Json:
    """Return what *answer* says, or raise what it amounts to."""
    try:
        said = msgspec.json.decode(answer.body) if answer.body else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise NonsenseError(f"not JSON: {error}") from error
    if answer.status >= _REFUSED:
        raise RefusedError(INVALID_REQUEST, f"HTTP {answer.status} {shown(said)}")
    problem = said.get("error") if isinstance(said, dict) else None
    if isinstance(problem, dict) and "result" not in said:
        code = problem.get("code")
        rpc = code if type(code) is int else INVALID_REQUEST
        raise RefusedError(rpc, str(problem.get("message"))[:200], problem.get("data"))
    return said
