"""Grades: how the players of a league kept to the rules, and the points that staff give them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Struct, convert, field
from msgspec.structs import asdict

from agent_league.protocol import ErrorCode
from agent_league.protocol.results import Termination
from agent_league.protocol.rounds import StandingRow
from agent_league.season.season import Season
from agent_league.store.events import AgentDisqualified, AgentReinstated, MatchEnded, ViolationNoted
from agent_league.vocabulary import PlayerId

Share = Annotated[float, Meta(ge=0, le=1)]
Number = Annotated[int, Meta(ge=0)]
Rank = Annotated[int, Meta(ge=1)]


class Rubric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How ranks become points. The defaults are those of the assignment."""

    places: tuple[tuple[Rank, int], ...] = tuple(
        {1: 100, 2: 95, 3: 90, 5: 85, 10: 80, 15: 75, 20: 70}.items()
    )
    """Pairs of the last rank and its points."""
    otherwise: int = 65
    percentiles: tuple[tuple[Share, int], ...] = ((0.2, 30), (0.4, 25), (0.6, 20), (0.8, 15))
    """Pairs of a share of the class, counted from the top, and its points."""
    below_percentiles: int = 10
    compliance_bonus: int = 10
    """For players that broke no rule."""
    disqualified: int = 0
    most_violations: Number | None = 0
    """More than this disqualifies; null: never."""
    most_timeouts: Share | None = 0.05
    """The same for timeouts, as a share of the moves that were asked for."""
    most_failures: Number | None = 0
    """The same for calls that did not reach the player, because it had crashed."""


class Conduct(Struct):
    """How well a player kept to the rules, whatever its results."""

    matches: int = 0
    faulty: set[str] = field(default_factory=set[str])
    """The matches in which it broke a rule."""
    moves: int = 0
    timeouts: int = 0
    failures: int = 0
    violations: int = 0
    out: str = ""
    """Why the league disqualified it, if it did."""

    @property
    def compliance(self) -> float:
        """The share of its matches in which it broke no rule."""
        return 1 - len(self.faulty) / self.matches if self.matches else 1.0

    @property
    def timeout_share(self) -> float:
        """The share of its moves that came too late; one that never joined has made none."""
        asked = max(self.moves, self.timeouts)
        return self.timeouts / asked if asked else 0.0


@dataclass(frozen=True)
class Grade:
    """A row of the table for staff."""

    rank: int
    player_id: str
    player: str
    played: int
    wins: int
    draws: int
    losses: int
    league_points: int
    compliance: float
    moves: int
    timeouts: int
    failures: int
    violations: int
    disqualified: str
    """The reason; empty if it is not disqualified."""
    place_points: int
    bonus: int
    points: int
    competition_points: int


def grade_players(season: Season, conducts: dict[str, Conduct], rubric: Rubric) -> list[Grade]:
    """Return the grades of all players, the best rank first."""
    table = season.standings()
    return [
        _grade(row, conducts.get(row.player_id, Conduct()), rubric, len(table)) for row in table
    ]


def _grade(row: StandingRow, conduct: Conduct, rubric: Rubric, players: int) -> Grade:
    ground = _disqualification_ground(conduct, rubric)
    place = next((points for last, points in rubric.places if row.rank <= last), rubric.otherwise)
    bonus = 0 if conduct.violations or ground else rubric.compliance_bonus
    computed = {
        "player": row.display_name,
        "league_points": row.points,
        "compliance": round(conduct.compliance, 4),
        "disqualified": ground,
        "place_points": place,
        "bonus": bonus,
        "points": rubric.disqualified if ground else place + bonus,
        "competition_points": 0 if ground else _rate_percentile(row.rank, players, rubric),
    }
    return convert({**asdict(row), **asdict(conduct), **computed}, Grade)


def _rate_percentile(rank: int, players: int, rubric: Rubric) -> int:
    """Return the points for the part of the class that a rank is in; the first is at the top."""
    share_above = (rank - 1) / players
    found = (points for share, points in rubric.percentiles if share_above < share)
    return next(found, rubric.below_percentiles)


def _disqualification_ground(conduct: Conduct, rubric: Rubric) -> str:
    """Return why a player is disqualified; empty if it is not."""
    if conduct.out:
        return conduct.out
    limits = (
        ("violations", conduct.violations, rubric.most_violations),
        ("timeouts", conduct.timeout_share, rubric.most_timeouts),
        ("failures", conduct.failures, rubric.most_failures),
    )
    return ", ".join(name for name, found, most in limits if most is not None and found > most)


TranscriptEntry = dict[str, Any]
"""One message or error in the transcript of a match."""

_CALLS = {"CHOOSE_PARITY_CALL", "GAME_MOVE_CALL"}
_FAULT_BY_CODE: Mapping[str, str] = {
    ErrorCode.TIMEOUT_ERROR: "timeouts",
    ErrorCode.CONNECTION_ERROR: "failures",
}
_FAULT_BY_TERMINATION: Mapping[str, str] = {
    Termination.TIMEOUT: "timeouts",
    Termination.UNREACHABLE: "failures",
    Termination.SUSPENDED: "failures",
    Termination.INVALID_REPLY: "violations",
    Termination.INVALID_MOVE: "violations",
    Termination.ERROR_REPLY: "violations",
}
_NEVER_ASKED = {Termination.DECLINED, Termination.SUSPENDED, Termination.DISQUALIFIED}
"""The endings of matches in which nobody was asked for a move."""


def note_match(
    conducts: dict[str, Conduct], ended: MatchEnded, entries: Sequence[TranscriptEntry]
) -> None:
    """Count a match: by its transcript, or by how it ended if there is no transcript."""
    for player in ended.players:
        conduct = conducts.setdefault(player, Conduct())
        counts = _count(player, entries)
        if player in ended.technical_losses:
            reason = ended.forfeits.get(PlayerId(player), ended.termination)
            fault = _FAULT_BY_TERMINATION.get(reason)
            if fault is not None:  # the fault that cost the match happened at least once
                counts[fault] = max(counts[fault], 1)
        conduct.matches += 1
        conduct.moves += counts["moves"] if entries else ended.termination not in _NEVER_ASKED
        conduct.timeouts += counts["timeouts"]
        conduct.failures += counts["failures"]
        conduct.violations += counts["violations"]
        if counts["violations"]:
            conduct.faulty.add(ended.match_id)


def note_violation(conducts: dict[str, Conduct], violation: ViolationNoted) -> None:
    """Count a deviation that the league understood and noted."""
    conduct = conducts.setdefault(violation.agent_id, Conduct())
    conduct.violations += 1
    conduct.faulty |= {violation.match_id} if violation.match_id else set()


def note_disqualification(conducts: dict[str, Conduct], event: AgentDisqualified) -> None:
    conducts.setdefault(event.agent_id, Conduct()).out = event.ground


def note_reinstatement(conducts: dict[str, Conduct], event: AgentReinstated) -> None:
    conducts.setdefault(event.agent_id, Conduct()).out = ""


def _count(player: str, entries: Iterable[TranscriptEntry]) -> Counter[str]:
    """Count the moves that *player* was asked for, and its faults.

    Those are missing answers, invalid answers, and valid answers that are illegal moves. A late
    answer to an invitation is no late move.
    """
    who, counts, asked = f"player:{player}", Counter[str](), False
    for entry in entries:
        if entry.get("from") == who and "error" in entry:
            code = str(entry["error"]).partition(" ")[0]
            late_join = code == ErrorCode.TIMEOUT_ERROR and not asked
            counts["" if late_join else _FAULT_BY_CODE.get(code, "violations")] += 1
        message = entry.get("message")
        if entry.get("to") == who and isinstance(message, dict):
            kind, error = message.get("message_type"), message.get("error_code")
            asked = asked or kind in _CALLS
            counts["moves"] += kind in _CALLS
            counts["violations"] += (kind, error) == ("GAME_ERROR", ErrorCode.ILLEGAL_MOVE)
    return counts
