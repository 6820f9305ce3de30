"""The season is what its events add up to: a fold, and no second copy of the truth."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from agent_league.league.endings import VOIDED, Ending, endings, letters
from agent_league.league.roster import Roster
from agent_league.league.settings import LeagueSettings
from agent_league.protocol.rounds import StandingRow
from agent_league.store.events import (
    Event,
    LeagueContinued,
    LeaguePaused,
    MatchAssigned,
    MatchEnded,
    MatchVoided,
    OrganiserAppointed,
    RoundClosed,
    RoundOpened,
    ScheduledMatch,
    SeasonEnded,
    SeasonStarted,
    ViolationNoted,
)
from agent_league.tournament import Pairing, Result, Standing, Table, round_robin, total_rounds
from agent_league.vocabulary import PlayerId


class Stage(StrEnum):
    """Where the season stands."""

    REGISTRATION = "REGISTRATION"
    PLAYING = "PLAYING"
    COMPLETED = "COMPLETED"


class Season:
    """What has happened so far, ready to be asked."""

    def __init__(self, settings: LeagueSettings) -> None:
        self.settings = settings
        self.roster = Roster()
        self.stage = Stage.REGISTRATION
        self.players: list[PlayerId] = []
        self.round_id = 0
        self.closed_rounds = 0
        self.matches: dict[str, ScheduledMatch] = {}
        """The matches of every round that was opened; of a season taken up, the latest ones."""
        self.assignments: dict[str, MatchAssigned] = {}
        self.results: dict[str, MatchEnded] = {}
        """The results of `matches`; `tally` has counted them all."""
        self.endings: dict[int, str] = {}
        """How the matches of each closed round ended, a letter each, in the order of the draw."""
        self.tally: Counter[str] = Counter()
        """How many matches ended with each status."""
        self.voided: set[str] = set()
        """The matches whose results do not count."""
        self.paused = False
        self.organiser: str | None = None
        """The hash of the organiser's token."""
        self.violations: Counter[tuple[str, str]] = Counter()
        """How often each agent broke each rule."""
        self.incidents: dict[str, list[ViolationNoted]] = {}
        """What was noted of each match that is played, or was in the last round."""
        self.table = Table([], settings.scoring)
        self._folds: Mapping[type[Event], Callable[[Any], None]] = {
            SeasonStarted: self._season_started,
            RoundOpened: self._round_opened,
            MatchAssigned: self._match_assigned,
            MatchEnded: self._match_ended,
            RoundClosed: self._round_closed,
            ViolationNoted: self._violation_noted,
            SeasonEnded: self._season_ended,
            OrganiserAppointed: self._organiser_appointed,
            LeaguePaused: self._paused,
            LeagueContinued: self._continued,
            MatchVoided: self._match_voided,
        }

    @property
    def total_rounds(self) -> int:
        return total_rounds(len(self.players), self.settings.legs)

    @property
    def played(self) -> int:
        """How many matches have ended, whether their results are still at hand or not."""
        return self.tally.total()

    def past(self, match_id: str) -> bool:
        """Whether this is a match of a closed round that is not at hand any more."""
        found = re.fullmatch(r"R([1-9][0-9]{0,8})M([1-9][0-9]{0,8})", match_id)
        if found is None or match_id in self.matches:
            return False
        round_id, number = map(int, found.groups())
        return round_id <= self.closed_rounds and number <= len(self.players) // 2

    def pairings(self, round_id: int) -> list[ScheduledMatch]:
        """Return the matches of a round, whether it has been opened or not."""
        pairings = round_robin(self.players, round_id - 1, self.settings.legs)
        return [_scheduled(round_id, n, pairing) for n, pairing in enumerate(pairings, 1)]

    def endings_of(self, matches: list[ScheduledMatch]) -> list[Ending]:
        """Return how all *matches* of a round ended, be it long ago, or that they have not."""
        known = self.endings.get(matches[0].round_id) if matches else None
        if known is None:
            known = letters(matches, self.results)
        told = zip(matches, endings(matches, known), strict=True)
        return [(VOIDED, end[1]) if match.match_id in self.voided else end for match, end in told]

    def results_of(self, round_id: int) -> list[MatchEnded]:
        ids = [match.match_id for match in self.pairings(round_id)]
        return [self.results[match_id] for match_id in ids if match_id in self.results]

    def noted(self, agent_id: str, rule: str, match_id: str | None) -> bool:
        """Whether it was noted that an agent broke *rule*: in that match, or outside of any."""
        if match_id is None:
            return (agent_id, rule) in self.violations
        return any(
            (one.agent_id, one.rule) == (agent_id, rule) for one in self.incidents.get(match_id, ())
        )

    def violations_of(self, agent_id: str) -> dict[str, int]:
        return {rule: n for (who, rule), n in self.violations.items() if who == agent_id}

    def row(self, player: str) -> Standing:
        return self.table.row(PlayerId(player))

    def standings(self) -> list[StandingRow]:
        """Return the table as it is published, best first."""
        return [
            StandingRow(
                rank=rank,
                player_id=row.player,
                display_name=self.roster[row.player].display_name,
                played=row.played,
                wins=row.wins,
                draws=row.draws,
                losses=row.losses,
                points=row.points,
            )
            for rank, row in enumerate(self.table.ranked(), 1)
        ]

    def forget_past(self) -> None:
        """Let go of the matches of rounds before the last closed one, as a snapshot does."""
        past = [m.match_id for m in self.matches.values() if m.round_id < self.closed_rounds]
        for match_id in past:
            del self.matches[match_id]
            self.assignments.pop(match_id, None)
            self.results.pop(match_id, None)

    def apply(self, event: Event) -> None:
        """Take *event* into account."""
        self.roster.apply(event)
        fold = self._folds.get(type(event))
        if fold is not None:
            fold(event)

    def _season_started(self, event: SeasonStarted) -> None:
        self.stage = Stage.PLAYING
        self.players = [PlayerId(player) for player in event.players]
        self.table = Table(self.players, self.settings.scoring)

    def _round_opened(self, event: RoundOpened) -> None:
        self.round_id = event.round_id
        self.matches.update({match.match_id: match for match in event.matches})

    def _match_assigned(self, event: MatchAssigned) -> None:
        self.assignments[event.match_id] = event

    def _match_ended(self, event: MatchEnded) -> None:
        self.results[event.match_id] = event
        self.tally[event.status] += 1
        self.table.add(_result(event))

    def _violation_noted(self, event: ViolationNoted) -> None:
        self.violations[event.agent_id, event.rule] += 1
        if event.match_id is not None:
            self.incidents.setdefault(event.match_id, []).append(event)

    def _round_closed(self, event: RoundClosed) -> None:
        self.closed_rounds = event.round_id
        past = [one for one in self.incidents if self._round_of(one) < event.round_id]
        for match_id in past:
            del self.incidents[match_id]
        self.endings[event.round_id] = letters(self.pairings(event.round_id), self.results)

    def _round_of(self, match_id: str) -> int:
        match = self.matches.get(match_id)
        return match.round_id if match else 0

    def _season_ended(self, event: SeasonEnded) -> None:
        self.stage = Stage.COMPLETED

    def _organiser_appointed(self, event: OrganiserAppointed) -> None:
        self.organiser = event.token_hash

    def _paused(self, event: LeaguePaused) -> None:
        self.paused = True

    def _continued(self, event: LeagueContinued) -> None:
        self.paused = False

    def _match_voided(self, event: MatchVoided) -> None:
        self.voided.add(event.match_id)
        self.table.remove(_result(event))


def _scheduled(round_id: int, number: int, pairing: Pairing) -> ScheduledMatch:
    first, second = pairing
    match_id = f"R{round_id}M{number}"
    return ScheduledMatch(match_id=match_id, round_id=round_id, first=first, second=second)


def _result(event: MatchEnded | MatchVoided) -> Result:
    first, second = (PlayerId(player) for player in event.players)
    losers = frozenset(PlayerId(player) for player in event.technical_losses)
    winner = PlayerId(event.winner) if event.winner else None
    return Result(first, second, winner, losers)
