"""How one peer is spoken to: a letter goes out in the peer's own way, and its result comes back.

The league's dialect is here. Another way of speaking is another `Speech`, and nobody but the
`Line` that holds it needs to know.
"""

import asyncio
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Raw, UnsetType

from agent_league.dialects import Deviation, Ledger, replies, rules
from agent_league.dialects.mending import shown
from agent_league.dialects.writing import renamed
from agent_league.protocol import Message, Request, name
from agent_league.protocol.fields import VERSION
from agent_league.protocol.jsonrpc import (
    INVALID_REQUEST,
    FrameError,
    Problem,
    call,
    read_returned,
)
from agent_league.protocol.play import StartMatch
from agent_league.transport.exchange import Answer, Post
from agent_league.transport.failures import (
    BusyError,
    NoAnswerError,
    NonsenseError,
    NoReplyError,
    PromisedError,
    RefusedError,
)
from agent_league.transport.ways import USUAL, Letter, Tried, Way, unhurried, unread, ways_to

__all__ = ["LeagueSpeech", "Letter", "Speech", "sealed"]

_encode = msgspec.json.Encoder().encode
_REFUSED = 400
"""The first HTTP status that says no."""


def sealed(message: Message) -> Letter:
    return Letter(type(message), _encode(message))


class Speech(Protocol):
    """Delivers letters to one peer in a dialect that it understands."""

    @property
    def dialect(self) -> str: ...

    async def deliver(
        self, letter: Letter, within: float, ledger: Ledger | None = None
    ) -> bytes | Raw:
        """Return the result as the protocol writes it, or raise a `NoAnswerError`.

        What deviates goes into the *ledger*; without one, nothing may.
        """
        ...


class _Sent(NamedTuple):
    """A call that was made: how, under which number, and with what it was answered."""

    way: Way
    number: int
    answer: Answer

    @property
    def id(self) -> int | None:
        return None if self.way.bare else self.number


class LeagueSpeech:
    """The league's own dialect, in the way that the peer at *url* turns out to like."""

    dialect = VERSION

    def __init__(self, url: str, post: Post) -> None:
        self._url, self._post = url, post
        self._numbers: Iterator[int] = count(1)
        self._usual = USUAL
        self._ways: dict[type[Message], Way] = {}
        """What was found out, by the kind of message; the last finding holds for all others."""
        self._hopeless: set[type[Message]] = set()
        self._doubted: set[type[Message]] = set()
        self._proven: set[type[Message]] = set()
        self._worded: set[type[Message]] = set()
        self.alias: tuple[str, str] | None = None
        """The id that we gave the peer, and the one that it goes by instead."""

    async def deliver(
        self, letter: Letter, within: float, ledger: Ledger | None = None
    ) -> bytes | Raw:
        """Return the result of *letter*, in the first way that the peer knows."""
        way = self._ways.get(letter.kind, self._usual)
        if way is not USUAL or self.alias is not None:
            return await self._delivered(letter, way, within, ledger)
        # Nearly every letter goes as it should, and is answered so: that is all there is to pay for.
        began, number = _now(), next(self._numbers)
        first: _Sent | NoAnswerError | None = None
        try:
            answer = await self._post(
                self._url, call(letter.kind.route.tool, letter.body, number), within
            )
            result = _plain_result(letter.kind, number, answer.body)
            if result is not None:
                if self._doubted or self._hopeless:
                    self._doubted.discard(letter.kind)
                    self._hopeless.discard(letter.kind)
                return result
            first = _Sent(way, number, answer if ledger is None else unhurried(answer))
        except NoAnswerError as error:
            first = error
        return await self._delivered(letter, way, within - (_now() - began), ledger, first)

    async def _delivered(
        self,
        letter: Letter,
        way: Way,
        within: float,
        ledger: Ledger | None,
        first: "_Sent | NoAnswerError | None" = None,
    ) -> bytes | Raw:
        """Return the result of *letter*; *first* is what came of saying it in that *way*."""
        ends, left = _now() + within, within
        tried = Tried(self._to_try(letter, ledger))
        while True:
            try:
                sent = _known(first) or await self._sent(letter, way, left, ledger, first)
                result = self._result(letter, sent, ledger)
            except NoAnswerError as error:
                if ledger is not None and ledger.strict:
                    _refused_rightly(error, ledger)
                if letter.kind is StartMatch and isinstance(error, NoReplyError):
                    result = self._trusted(letter, tried)
                else:
                    way, first = self._otherwise(letter, tried, way, error), None
                    left = ends - _now()
                    continue
            self._learn(letter, way, tried)
            if ledger is not None:
                ledger.note(tried.habits(way))
            return result

    def estranged(self, kind: type[Message]) -> bool:
        """Whether the peer is told *kind* in another form than ours, or answers it in other words."""
        return kind in self._worded or self._ways.get(kind, self._usual).form is not None

    def doubted(self, kind: type[Message]) -> bool:
        """Whether the peer took the last *kind* with words that prove nothing, and never did."""
        return kind in self._doubted - self._proven

    def heeded(self, kind: type[Message]) -> None:
        """Take note that the peer has done what the last *kind* told it."""
        self._proven.add(kind)

    def unheeded(self, kind: type[Message]) -> bool:
        """Take note that nothing came of the last *kind*; False if there is no other way left."""
        ways = ways_to(kind, self._url)
        place = ways.index(self._ways.get(kind, self._usual))
        self._doubted.discard(kind)
        if place + 1 < len(ways):
            self._ways[kind] = ways[place + 1]
        return place + 1 < len(ways)

    def _trusted(self, letter: Letter, tried: Tried) -> bytes:
        """Take an order for accepted whose answer says nothing; what comes of it will tell.

        The ok of a peer that has just said of another form that it does not know it is a real one.
        """
        if not tried.discerning:
            self._doubted.add(letter.kind)
        said = msgspec.json.decode(letter.body)
        return _encode({"status": "ACCEPTED", "match_id": said.get("match_id")})

    def _to_try(self, letter: Letter, ledger: Ledger | None) -> "tuple[Way, ...]":
        if ledger is None or ledger.strict:
            return tuple(way for way in ways_to(Message, self._url) if not way.plain)
        return () if letter.kind in self._hopeless else ways_to(letter.kind, self._url)

    def _otherwise(self, letter: Letter, tried: Tried, way: Way, error: NoAnswerError) -> Way:
        """Return how else to put it, or raise."""
        try:
            return tried.instead_of(way, error)
        except NoAnswerError:
            if tried.in_vain:
                self._hopeless.add(letter.kind)
                self._ways.pop(letter.kind, None)
            raise

    async def _sent(
        self,
        letter: Letter,
        way: Way,
        within: float,
        ledger: Ledger | None,
        busy: "_Sent | NoAnswerError | None" = None,
    ) -> _Sent:
        """Send *letter*; a peer that is asked too often, as it said just now, is so a little later."""
        if self.alias is not None:
            letter = Letter(letter.kind, renamed(*self.alias, letter.body))
        ends, pause = _now() + within, 0.2
        if way.form is not None:
            self._ways[letter.kind] = way  # a report may come before the answer does
        while True:
            number = next(self._numbers)
            try:
                if isinstance(busy, BusyError):
                    raise busy
                answer = await self._post(self._url, way.written(letter, number), within)
                return _Sent(way, number, answer if ledger is None else unhurried(answer))
            except BusyError as error:
                within = ends - _now() - pause
                if ledger is None or within <= 0:
                    raise
                ledger.note([Deviation(rules.RATE_LIMIT, str(error)[-60:])])
                busy = None
            await asyncio.sleep(pause)
            pause *= 2

    def _learn(self, letter: Letter, way: Way, tried: Tried) -> None:
        self._hopeless.discard(letter.kind)
        if tried.errors or letter.kind in self._ways:
            self._ways[letter.kind] = way
            if tried.errors and way.form is None:
                self._usual = way

    def _result(self, letter: Letter, sent: _Sent, ledger: Ledger | None) -> bytes | Raw:
        """Return what the peer answered, or raise what its answer amounts to."""
        self._doubted.discard(letter.kind)
        if ledger is None:
            return _right(sent)
        body = sent.answer.body
        reply = letter.kind.reply if issubclass(letter.kind, Request) else None
        try:
            result = _right(sent)
            if reply is None or (name(reply).encode() in body and b'"error"' not in body):
                return result
        except NonsenseError as error:
            if ledger.strict and reply is None:
                raise
            problem: NonsenseError | None = error
        else:
            problem = None
        said = _parsed(body, problem)
        if reply is None:
            return _taken(sent)
        self._worded.add(letter.kind)
        found = replies.find(said, reply, sent.id)
        if found is None:
            raise _no_reply(letter, sent, said, ledger)
        ledger.note(found.deviations)
        return _encode(found.body)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _known(first: _Sent | NoAnswerError | None) -> _Sent | None:
    """Return what was sent, or raise what came of it; None if it is to be sent, perhaps again."""
    if isinstance(first, BusyError) or first is None:
        return None
    if isinstance(first, NoAnswerError):
        raise first
    return first


def _plain_result(kind: type[Message], number: int, body: bytes) -> Raw | None:
    """Return the result in an answer that is right beyond doubt, else None."""
    if b'"error"' in body:
        return None
    try:
        frame = read_returned(body)
    except FrameError:
        return None
    if frame.id != number or isinstance(frame.result, UnsetType):
        return None
    wanted = _reply_name(kind)
    return frame.result if wanted is None or wanted in body else None


@cache
def _reply_name(kind: type[Message]) -> bytes | None:
    return name(kind.reply).encode() if issubclass(kind, Request) else None


def _no_reply(letter: Letter, sent: _Sent, said: object, ledger: Ledger) -> NoAnswerError:
    if sent.answer.status >= _REFUSED:
        return RefusedError(INVALID_REQUEST, f"HTTP {sent.answer.status} {shown(said)}")
    if replies.promises(said) and letter.kind is not StartMatch:
        if ledger.strict:
            ledger.add(Deviation(rules.LATER_ANSWER, shown(said)))
        return PromisedError("the answer is to come later")
    if ledger.strict:
        ledger.add(Deviation(rules.OK_TO_UNKNOWN, shown(said)))
    return NoReplyError(f"not an answer to {name(letter.kind)}: {shown(said)}")


def _refused_rightly(error: NoAnswerError, ledger: Ledger) -> None:
    """Write down that a right message was refused as if it were a wrong one."""
    if unread(error):
        ledger.add(Deviation(rules.RIGHT_REFUSED, str(error)[:80]))


def _taken(sent: _Sent) -> bytes:
    """Take whatever came as an acknowledgement, unless it says no."""
    if sent.answer.status >= _REFUSED:
        raise RefusedError(INVALID_REQUEST, f"HTTP {sent.answer.status}")
    return b'{"status":"ok"}'


def _parsed(body: bytes, problem: NonsenseError | None) -> object:
    try:
        return msgspec.json.decode(body) if body else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise problem or NonsenseError(str(error)) from error


def _right(sent: _Sent) -> bytes | Raw:
    """Return the result in an answer that is as it must be, or raise what it amounts to."""
    body, bare = sent.answer.body, sent.way.bare
    try:
        frame = read_returned(body)
    except FrameError as error:
        raise NonsenseError(error.detail) from error
    if isinstance(frame.error, Problem):
        raise RefusedError(frame.error.code, frame.error.message, frame.error.data)
    if bare and isinstance(frame.result, UnsetType):
        return _bare_result(body)
    if frame.id != sent.number and not bare:
        raise NonsenseError(f"the answer has the id {frame.id!r}, the request had {sent.number}")
    if isinstance(frame.result, UnsetType):
        raise NonsenseError("the answer has neither a result nor an error")
    return frame.result


COMPLAINTS = {"LEAGUE_ERROR", "GAME_ERROR"}


def _bare_result(body: bytes) -> bytes:
    """Return a message that came without a frame, unless it is a complaint."""
    said = msgspec.json.decode(body)
    if said.get("message_type") in COMPLAINTS:
        detail = said.get("detail") or said.get("error_description")
        raise RefusedError(INVALID_REQUEST, str(detail), said)
    return body
