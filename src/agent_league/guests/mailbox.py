"""The open turns of a guest: each waits until the guest fetches it, and then for the move."""

import asyncio
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from agent_league.clock import Clock
from agent_league.own_time import Deadline, own_time
from agent_league.player import MoveCall, Turn
from agent_league.protocol import ErrorCode, ProtocolError
from agent_league.vocabulary import Json

Position: TypeAlias = tuple[str, bytes]
"""A match and the view of its game. A referee that asks again for the same position means the same turn."""

_encode_canonical = msgspec.json.Encoder(order="deterministic").encode


@dataclass(eq=False)
class OpenTurn:
    """A move that a referee waits for."""

    call: MoveCall
    turn: Turn
    turn_id: str = field(default_factory=lambda: f"turn_{secrets.token_urlsafe(12)}")
    deadline: datetime | None = None
    """Until when it may be answered; None until the guest has received it."""
    move: Json | UnsetType = UNSET
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    timer: Deadline | None = None

    @property
    def position(self) -> Position:
        return self.turn.match_id, _encode_canonical(self.turn.view)

    def parse_move(self, raw: Json) -> Json:
        """Return the legal move that *raw* means, or raise `ProtocolError` with the legal moves.

        A model may write a number as text, so text is also read as JSON.
        """
        legal = {_encode_canonical(move): move for move in self.turn.legal}
        raw_json = raw.strip().encode() if isinstance(raw, str) else b""
        for key in (_encode_canonical(raw), raw_json):
            if key in legal:
                return legal[key]
        detail = "move: not a legal move; it is still your turn"
        moves = list(legal.values())
        raise ProtocolError(ErrorCode.ILLEGAL_MOVE, detail, field="move", legal_moves=moves)


class Mailbox:
    """Holds the turns of one guest, which has *seconds* for a move."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds
        self._open: dict[str, OpenTurn] = {}
        self._lapsed: set[Position] = set()
        self.news = asyncio.Event()
        """Set while there is something new for the guest."""

    async def wait_for_move(self, call: MoveCall, turn: Turn) -> Json:
        """Return the guest's move, or raise `ProtocolError` if it makes none in time."""
        open_turn = OpenTurn(call, turn)
        if open_turn.position not in self._lapsed:
            same = (one for one in self._open.values() if one.position == open_turn.position)
            open_turn = next(same, open_turn)
            self._open[open_turn.turn_id] = open_turn
            self.news.set()
            await open_turn.settled.wait()
        if open_turn.move is UNSET:
            raise ProtocolError(ErrorCode.TIMEOUT_ERROR, "the guest has not moved in time")
        return open_turn.move

    def hand_out(self) -> OpenTurn | None:
        """Return the oldest open turn, the same one until it is answered.

        The guest's time starts when the turn is first handed out.
        """
        turn = next(iter(self._open.values()), None)
        if turn is not None and turn.deadline is None:
            turn.deadline = self._clock() + timedelta(seconds=self._seconds)
            turn.timer = Deadline(partial(self._lapse, turn))
            turn.timer.set(own_time() + self._seconds)
        return turn

    def is_open(self, turn_id: str) -> bool:
        return turn_id in self._open

    def play(self, turn_id: str, raw_move: Json) -> Json:
        """Answer a turn with a legal move and return that move, or raise `ProtocolError`."""
        turn = self._open.get(turn_id)
        if turn is None:
            detail = "turn_id: not an open turn of yours; wait_for_turn tells if there is one"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, field="turn_id")
        turn.move = turn.parse_move(raw_move)
        self._close(turn)
        return turn.move

    def forget(self, match_id: str) -> None:
        """Drop the turns of a match that has ended."""
        self._lapsed = {position for position in self._lapsed if position[0] != match_id}
        for turn in [one for one in self._open.values() if one.turn.match_id == match_id]:
            self._close(turn)

    def give_up(self) -> None:
        """End all open turns without a move: the guest has gone."""
        for turn in list(self._open.values()):
            self._lapse(turn)

    def _lapse(self, turn: OpenTurn) -> None:
        self._lapsed.add(turn.position)
        self._close(turn)

    def _close(self, turn: OpenTurn) -> None:
        self._open.pop(turn.turn_id, None)
        if turn.timer is not None:
            turn.timer.cancel()
        if not self._open:
            self.news.clear()
        turn.settled.set()
