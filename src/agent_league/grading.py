"""Grades: what a league that was played says about its players, and the points that staff give for it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import field as having
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from agent_league.league.season import Season
from agent_league.protocol import ErrorCode
from agent_league.store.events import AgentDisqualified, MatchEnded, ViolationNoted

Share = Annotated[float, Meta(ge=0, le=1)]
Number = Annotated[int, Meta(ge=0)]
Rank = Annotated[int, Meta(ge=1)]


class Rubric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How places become points. The defaults are the table of the assignment."""

    places: list[tuple[Rank, int]] = field(
        default_factory=lambda: [
            *((1, 100), (2, 95), (3, 90)),
            *((5, 85), (10, 80), (15, 75), (20, 70)),
        ]
    )
    """Down to this rank, so many points."""
    otherwise: int = 65
    compliance_bonus: int = 10
    """For whoever broke no rule at all."""
    disqualified: int = 0
    most_violations: Number | None = 0
    """More than this is a disqualification; null for never."""
    most_timeouts: Share | None = 0.05
    """The same for timeouts, as a share of the moves asked for."""
    most_failures: Number | None = 0
    """The same for calls that found nobody there: a player that crashed."""


@dataclass
class Conduct:
    """How a player behaved, whatever its luck."""

    matches: int = 0
    faulty: set[str] = having(default_factory=set[str])
    """The matches in which it broke a rule."""
    moves: int = 0
    timeouts: int = 0
    failures: int = 0
    violations: int = 0
    out: str = ""
    """Why the league itself put it out, if it did."""

    @property
    def compliance(self) -> float:
        """The share of its matches in which it broke no rule."""
        return 1 - len(self.faulty) / self.matches if self.matches else 1.0

    @property
    def timeout_share(self) -> float:
        return self.timeouts / self.moves if self.moves else 0.0


@dataclass(frozen=True)
class Grade:
    """A row of what staff get."""

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
    """Why, or nothing."""
    place_points: int
    bonus: int
    points: int


def grades(season: Season, conducts: dict[str, Conduct], rubric: Rubric) -> list[Grade]:
    """Return every player's grade, the best rank first."""
    return [
        _grade(row, conducts.get(row.player_id, Conduct()), rubric) for row in season.standings()
    ]


def _grade(row: Any, conduct: Conduct, rubric: Rubric) -> Grade:
    out = _ground(conduct, rubric)
    place = next((points for last, points in rubric.places if row.rank <= last), rubric.otherwise)
    bonus = 0 if conduct.violations or out else rubric.compliance_bonus
    return Grade(
        rank=row.rank,
        player_id=row.player_id,
        player=row.display_name,
        played=row.played,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
        league_points=row.points,
        compliance=round(conduct.compliance, 4),
        moves=conduct.moves,
        timeouts=conduct.timeouts,
        failures=conduct.failures,
        violations=conduct.violations,
        disqualified=out,
        place_points=place,
        bonus=bonus,
        points=rubric.disqualified if out else place + bonus,
    )


def _ground(conduct: Conduct, rubric: Rubric) -> str:
    """Return why a player is out, or nothing."""
    if conduct.out:
        return conduct.out
    measured = (
        ("violations", conduct.violations, rubric.most_violations),
        ("timeouts", conduct.timeout_share, rubric.most_timeouts),
        ("failures", conduct.failures, rubric.most_failures),
    )
    return ", ".join(name for name, found, most in measured if most is not None and found > most)


Entry = dict[str, Any]
"""One thing that was said in a match, as its transcript has it."""

_CALLS = {"CHOOSE_PARITY_CALL", "GAME_MOVE_CALL"}
_COUNTED = {ErrorCode.TIMEOUT_ERROR: "timeouts", ErrorCode.CONNECTION_ERROR: "failures"}
_ENDINGS = {
    "timeout": "timeouts",
    "unreachable": "failures",
    "suspended": "failures",
    "invalid_reply": "violations",
    "invalid_move": "violations",
    "error_reply": "violations",
}


def note(conducts: dict[str, Conduct], ended: MatchEnded, said: Sequence[Entry]) -> None:
    """Take a match into account: what was said in it, and, where nothing was kept, how it ended."""
    for player in ended.players:
        conduct = conducts.setdefault(player, Conduct())
        faults = _faults(player, said)
        if player in ended.technical_losses:
            ending = _ENDINGS.get(ended.termination)
            if ending is not None:  # what cost the match happened at least once
                faults[ending] = max(faults[ending], 1)
        conduct.matches += 1
        conduct.moves += max(_moves(player, said), 1)
        conduct.timeouts += faults["timeouts"]
        conduct.failures += faults["failures"]
        conduct.violations += faults["violations"]
        if faults["violations"]:
            conduct.faulty.add(ended.match_id)


def note_violation(conducts: dict[str, Conduct], broken: ViolationNoted) -> None:
    """Take into account that the league understood somebody in spite of what it said."""
    conduct = conducts.setdefault(broken.agent_id, Conduct())
    conduct.violations += 1
    conduct.faulty |= {broken.match_id} if broken.match_id else set()


def note_disqualification(conducts: dict[str, Conduct], out: AgentDisqualified) -> None:
    conducts.setdefault(out.agent_id, Conduct()).out = out.ground


def _moves(player: str, said: Iterable[Entry]) -> int:
    mine = (entry for entry in said if entry.get("to") == f"player:{player}")
    return sum(_message(entry).get("message_type") in _CALLS for entry in mine)


def _faults(player: str, said: Iterable[Entry]) -> Counter[str]:
    """Count what *player* did wrong: answers that did not come, were none, or were against the rules."""
    found: Counter[str] = Counter()
    for entry in said:
        if entry.get("from") == f"player:{player}" and "error" in entry:
            found[_COUNTED.get(_code(str(entry["error"])), "violations")] += 1
        elif entry.get("to") == f"player:{player}" and _is_illegal(_message(entry)):
            found["violations"] += 1
    return found


def _code(said: str) -> ErrorCode:
    code = said.partition(" ")[0]
    return ErrorCode(code) if code in set(ErrorCode) else ErrorCode.INVALID_FIELD_VALUE


def _is_illegal(message: Entry) -> bool:
    """Whether a player is told here that its move, which was well said, is against the rules."""
    about = (message.get("message_type"), message.get("error_code"))
    return about == ("GAME_ERROR", ErrorCode.ILLEGAL_MOVE)


def _message(entry: Entry) -> Entry:
    message = entry.get("message")
    return message if isinstance(message, dict) else {}
