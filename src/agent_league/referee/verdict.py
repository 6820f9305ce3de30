"""How a match ended: pure judgement, from what the seats did to what everybody is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, NamedTuple

from agent_league.game import Outcome
from agent_league.protocol import ErrorCode
from agent_league.protocol.play import GameResult, ReportedResult, Status
from agent_league.transport import (
    LateError,
    NoAnswerError,
    NonsenseError,
    RefusedError,
    ToolsChangedError,
)
from agent_league.transport.retry import CircuitOpenError
from agent_league.vocabulary import Json, Seat


class Termination(StrEnum):
    """Why a match stopped; every match has exactly one."""

    COMPLETED = "completed"
    DECLINED = "declined"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    INVALID_REPLY = "invalid_reply"
    INVALID_MOVE = "invalid_move"
    ERROR_REPLY = "error_reply"
    TOOLS_CHANGED = "tools_changed"
    SUSPENDED = "suspended"
    BOTH_FORFEIT = "both_forfeit"


@dataclass(frozen=True)
class Forfeit:
    """Why a seat lost its match without playing it to the end."""

    why: Termination
    detail: str

    @property
    def absent(self) -> bool:
        """Whether the player is likely not there to be told anything."""
        return self.why in {Termination.TIMEOUT, Termination.UNREACHABLE, Termination.SUSPENDED}


_BAD_MOVES = {ErrorCode.INVALID_PARITY_CHOICE, ErrorCode.ILLEGAL_MOVE}

_SENTENCES: Mapping[Termination, str] = {
    Termination.DECLINED: "declined the invitation",
    Termination.TIMEOUT: "failed to respond within timeout",
    Termination.UNREACHABLE: "could not be reached",
    Termination.INVALID_REPLY: "gave no valid answer",
    Termination.INVALID_MOVE: "made no valid move",
    Termination.ERROR_REPLY: "answered only with errors",
    Termination.TOOLS_CHANGED: "changed its tools during the league",
    Termination.SUSPENDED: "is suspended",
}


def forfeit(error: NoAnswerError) -> Forfeit:
    """Return what a player forfeits by *error*."""
    return Forfeit(_termination(error), str(error))


def _termination(error: NoAnswerError) -> Termination:
    if isinstance(error, NonsenseError):
        bad_move = error.code in _BAD_MOVES
        return Termination.INVALID_MOVE if bad_move else Termination.INVALID_REPLY
    if isinstance(error, RefusedError) and error.code is ErrorCode.TIMEOUT_ERROR:
        return Termination.TIMEOUT  # it speaks for somebody else, who was too late
    by_kind = {
        LateError: Termination.TIMEOUT,
        CircuitOpenError: Termination.SUSPENDED,
        RefusedError: Termination.ERROR_REPLY,
        ToolsChangedError: Termination.TOOLS_CHANGED,
    }
    return by_kind.get(type(error), Termination.UNREACHABLE)


class Verdict(NamedTuple):
    """All there is to say about a finished match."""

    players: Sequence[str]
    status: Status
    winner: str | None
    termination: Termination
    reason: str
    choices: Mapping[str, Json]
    technical_losses: Sequence[str] = ()
    record: Mapping[str, Json] = MappingProxyType({})


def by_rules(
    players: Sequence[str],
    outcome: Outcome,
    choices: Mapping[str, Json],
    record: Mapping[str, Json],
) -> Verdict:
    """Judge a game that was played to its end."""
    won: Literal["WIN", "DRAW"] = "DRAW" if outcome.winner is None else "WIN"
    return Verdict(
        players=players,
        status=won,
        winner=None if outcome.winner is None else players[outcome.winner],
        termination=Termination.COMPLETED,
        reason=outcome.reason.format(*players),
        choices=choices,
        record=record,
    )


def by_forfeit(
    players: Sequence[str], forfeits: Mapping[Seat, Forfeit], choices: Mapping[str, Json]
) -> Verdict:
    """Judge a game that one seat, or each of them, did not play to its end."""
    losers = [players[seat] for seat in sorted(forfeits)]
    winners = [player for player in players if player not in losers]
    winner = winners[0] if winners else None
    sentences = [f"{players[seat]} {_SENTENCES[forfeits[seat].why]}" for seat in sorted(forfeits)]
    ending = f"{winner} wins by default" if winner else "no points for either"
    whole = Termination.BOTH_FORFEIT if winner is None else next(iter(forfeits.values())).why
    return Verdict(
        players=players,
        status="TECHNICAL_LOSS",
        winner=winner,
        termination=whole,
        reason=f"{', '.join(sentences)} - {ending}",
        choices=choices,
        technical_losses=losers,
    )


_WIRE_RECORD = {"drawn_number", "number_parity"}


def told(verdict: Verdict) -> GameResult:
    """Return *verdict* as both players are told it."""
    return GameResult(
        status=verdict.status,
        winner_player_id=verdict.winner,
        drawn_number=verdict.record.get("drawn_number"),
        number_parity=verdict.record.get("number_parity"),
        choices=dict(verdict.choices),
        reason=verdict.reason,
        details={k: v for k, v in verdict.record.items() if k not in _WIRE_RECORD},
    )


POINTS_FOR_WIN, POINTS_FOR_DRAW = 3, 1


def _points(verdict: Verdict, player: str) -> int:
    if verdict.status == "DRAW":
        return POINTS_FOR_DRAW
    return POINTS_FOR_WIN if player == verdict.winner else 0


def reported(verdict: Verdict) -> ReportedResult:
    """Return *verdict* as the league is told it."""
    return ReportedResult(
        winner=verdict.winner,
        score={player: _points(verdict, player) for player in verdict.players},
        details={
            "drawn_number": None,
            **verdict.record,
            "choices": dict(verdict.choices),
            "reason": verdict.reason,
        },
        status=verdict.status,
        termination=verdict.termination,
        technical_losses=list(verdict.technical_losses),
    )
