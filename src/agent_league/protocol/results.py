"""How a match ended: one value, and the two forms in which messages and files tell it.

The referee makes a `MatchResult`, and the league keeps it with its event. What it is worth in
points is computed in `tournament`.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct, field

from agent_league.protocol.fields import Count, Integer, Sentence
from agent_league.vocabulary import Json, PlayerId

Status = Literal["WIN", "DRAW", "TECHNICAL_LOSS"]


class Termination(StrEnum):
    """Why a match stopped, or why one player lost it without playing it to the end."""

    COMPLETED = "completed"
    DECLINED = "declined"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    INVALID_REPLY = "invalid_reply"
    INVALID_MOVE = "invalid_move"
    ERROR_REPLY = "error_reply"
    TOOLS_CHANGED = "tools_changed"
    SUSPENDED = "suspended"
    DISQUALIFIED = "disqualified"
    FORFEIT = "forfeit"
    """A technical loss for which the referee gave no reason that we know."""
    NOT_PLAYED = "not_played"
    """Only of a match: its referee ended it without a result."""
    BOTH_FORFEIT = "both_forfeit"
    """Only of a match: each player has a reason of its own."""

    @property
    def is_absence(self) -> bool:
        """Whether the player was likely not there, so that no message would reach it."""
        return self in {Termination.TIMEOUT, Termination.UNREACHABLE, Termination.SUSPENDED}


class MatchResult(Struct, frozen=True, kw_only=True):
    """Who won a match, and why it stopped. Without a winner it is a draw, unless both forfeited.

    Raises `ValueError` where the fields contradict each other; the text begins with the name of
    the field that is wrong.
    """

    players: tuple[PlayerId, PlayerId]
    winner: PlayerId | None
    forfeits: Mapping[PlayerId, Termination] = field(default_factory=dict)
    """Why each player that forfeited did so: none, one or both."""
    termination: str = Termination.COMPLETED
    """Why the match stopped; a third-party referee may have a word of its own for it."""
    details: dict[str, Json] = field(default_factory=dict)
    """The choices, the reason as a sentence, and what the game records, such as a drawn number."""

    def __post_init__(self) -> None:
        first, second = self.players
        if not self.forfeits and self.winner in (None, first, second) and first != second:
            return  # as nearly always
        players, losers = set(self.players), set(self.forfeits)
        if len(players) == 1:
            raise ValueError(f"players: {self.players[0]} cannot play against itself")
        if self.winner is not None and self.winner not in players - losers:
            raise ValueError(f"winner: expected {' or '.join(sorted(players))}, or null")
        if not losers <= players or (len(losers) == 1 and self.winner is None):
            raise ValueError(
                "technical_losses: expected players of this match, the winner not among them"
            )

    @property
    def status(self) -> Status:
        if self.forfeits:
            return "TECHNICAL_LOSS"
        return "DRAW" if self.winner is None else "WIN"


def read_result(
    players: Sequence[str],
    winner: str | None,
    losers: Iterable[str],
    termination: str | None = None,
    reasons: Mapping[Any, str] = MappingProxyType({}),
    details: dict[str, Json] | None = None,
) -> MatchResult:
    """Return a result from its parts as events and reports spell them, or raise `ValueError`.

    A loser without a reason of its own lost for the reason of the match, if that is one we know.
    """
    first, second = players
    forfeits: dict[PlayerId, Termination] = {}
    for player in losers:  # nearly always nobody
        forfeits[PlayerId(player)] = _read_reason(reasons.get(player, termination))
    return MatchResult(
        players=(PlayerId(first), PlayerId(second)),
        winner=PlayerId(winner) if winner is not None else None,
        forfeits=forfeits,
        termination=termination or (Termination.FORFEIT if forfeits else Termination.COMPLETED),
        details=details or {},
    )


def _read_reason(word: str | None) -> Termination:
    known = set(Termination) - {
        Termination.COMPLETED,
        Termination.NOT_PLAYED,
        Termination.BOTH_FORFEIT,
    }
    return Termination(word) if word in known else Termination.FORFEIT


class GameResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a match ended, as GAME_OVER tells its players."""

    status: Status
    winner_player_id: str | None
    drawn_number: Integer | None
    number_parity: Literal["even", "odd"] | None
    choices: dict[str, Json]
    reason: Sentence
    details: dict[str, Json] = field(default_factory=dict)
    """What a game other than Even/Odd has to tell."""


_NAMED_DETAILS = {"drawn_number", "number_parity", "choices", "reason"}


def make_game_result(result: MatchResult) -> GameResult:
    """Return *result* as its players are told it; details of the wrong type are left out."""
    details = result.details
    number, choices = details.get("drawn_number"), details.get("choices")
    reason = details.get("reason")
    drawn = number if type(number) is int else None
    return GameResult(
        status=result.status,
        winner_player_id=result.winner,
        drawn_number=drawn,
        number_parity=None if drawn is None else ("odd" if drawn % 2 else "even"),
        choices=choices if isinstance(choices, dict) else {},
        reason=reason if isinstance(reason, str) else result.termination,
        details={key: value for key, value in details.items() if key not in _NAMED_DETAILS},
    )


class ReportedResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a match ended, as MATCH_RESULT_REPORT tells the league."""

    winner: str | None
    score: dict[str, Count]
    details: dict[str, Json]
    status: Status | None = None
    termination: str | None = None
    technical_losses: list[str] = field(default_factory=list)
    """The players that forfeited: one, or both."""
    forfeits: dict[str, str] = field(default_factory=dict)
    """Where both forfeited: why each of them did."""


def make_reported_result(result: MatchResult, score: Mapping[PlayerId, int]) -> ReportedResult:
    """Return *result* as the league is told it, with what it is worth to each player."""
    alone = len(result.forfeits) == 1  # then `termination` says why
    return ReportedResult(
        winner=result.winner,
        score=dict(score.items()),
        details=result.details,
        status=result.status,
        termination=result.termination,
        technical_losses=list(result.forfeits),
        forfeits={} if alone else dict(result.forfeits.items()),
    )
