"""The turns of a guest: each waits here until the guest asks for it, and then for its move."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from agent_league.player import Turn
from agent_league.protocol import ErrorCode, ProtocolError
from agent_league.protocol.play import GameMoveCall, ParityCall
from agent_league.vocabulary import Json

MoveCall: TypeAlias = ParityCall | GameMoveCall
Position: TypeAlias = tuple[str, bytes]
"""A match, and what its game shows: the same position is the same turn, whoever asks again."""

_canonical = msgspec.json.Encoder(order="deterministic").encode


@dataclass(eq=False)
class OpenTurn:
    """A move that a referee waits for."""

    call: MoveCall
    turn: Turn
    turn_id: str = field(default_factory=lambda: f"turn_{secrets.token_urlsafe(12)}")
    deadline: datetime | None = None
    """Until when it may be answered; None as long as the guest does not know of it."""
    move: Json | UnsetType = UNSET
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def position(self) -> Position:
        return self.turn.match_id, _canonical(self.turn.view)

    def read(self, said: Json) -> Json:
        """Return the legal move that *said* is, or raise `ProtocolError` with all there are.

        A model may write a number as text; so text is also read as the JSON that it holds.
        """
        legal = {_canonical(move): move for move in self.turn.legal}
        written = said.strip().encode() if isinstance(said, str) else b""
        for key in (_canonical(said), written):
            if key in legal:
                return legal[key]
        detail = "move: not a legal move; it is still your turn"
        moves = list(legal.values())
        raise ProtocolError(ErrorCode.ILLEGAL_MOVE, detail, field="move", legal_moves=moves)


class Mailbox:
    """What is asked of a guest; *limit* tells until when a turn handed out now may be answered."""

    def __init__(self, limit: Callable[[], tuple[datetime, float]]) -> None:
        self._limit = limit
        self._open: dict[str, OpenTurn] = {}
        self._lapsed: set[Position] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.news = asyncio.Event()
        """Set while there is something that the guest should be told."""

    async def moved(self, call: MoveCall, turn: Turn) -> Json:
        """Return the guest's move, or raise `ProtocolError` if it made none in time."""
        asked = OpenTurn(call, turn)
        if asked.position not in self._lapsed:
            same = (one for one in self._open.values() if one.position == asked.position)
            asked = next(same, asked)
            self._open[asked.turn_id] = asked
            self.news.set()
            await asked.settled.wait()
        if asked.move is UNSET:
            raise ProtocolError(ErrorCode.TIMEOUT_ERROR, "the guest has not moved in time")
        return asked.move

    def handed_out(self) -> OpenTurn | None:
        """Return the turn that has waited longest, again and again until it is answered.

        Its time runs from when it is first handed out.
        """
        turn = next(iter(self._open.values()), None)
        if turn is not None and turn.deadline is None:
            turn.deadline, seconds = self._limit()
            loop = asyncio.get_running_loop()
            self._timers[turn.turn_id] = loop.call_later(seconds, self._lapse, turn)
        return turn

    def is_open(self, turn_id: str) -> bool:
        return turn_id in self._open

    def play(self, turn_id: str, said: Json) -> Json:
        """Answer a turn, which can be done once, or raise `ProtocolError`; return the move."""
        turn = self._open.get(turn_id)
        if turn is None:
            detail = "turn_id: not an open turn of yours; wait_for_turn tells if there is one"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, field="turn_id")
        turn.move = turn.read(said)
        self._close(turn)
        return turn.move

    def forget(self, match_id: str) -> None:
        """Drop what belongs to a match that is over."""
        self._lapsed = {position for position in self._lapsed if position[0] != match_id}
        for turn in [one for one in self._open.values() if one.turn.match_id == match_id]:
            self._close(turn)

    def give_up(self) -> None:
        """Answer whatever is open with nothing: nobody is there to move."""
        for turn in list(self._open.values()):
            self._lapse(turn)

    def _lapse(self, turn: OpenTurn) -> None:
        self._lapsed.add(turn.position)
        self._close(turn)

    def _close(self, turn: OpenTurn) -> None:
        self._open.pop(turn.turn_id, None)
        timer = self._timers.pop(turn.turn_id, None)
        if timer is not None:
            timer.cancel()
        if not self._open:
            self.news.clear()
        turn.settled.set()
