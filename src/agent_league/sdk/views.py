"""The files of a season, kept up to date as it happens, or made again from its events.

They follow from the events and from nothing else: not from the clock, nor from when they are
written. So those of a finished season are the same to the last byte, however they came about.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from agent_league.league import LeagueSettings
from agent_league.league.season import Season
from agent_league.protocol import LeagueError
from agent_league.protocol.play import GameResult, ReportedResult, Status
from agent_league.sdk.records import (
    Incident,
    MatchRecord,
    PlayedMatch,
    RoundsFile,
    StandingsFile,
)
from agent_league.sdk.repositories import (
    MatchRepository,
    PlayerHistoryRepository,
    RoundsRepository,
    StandingsRepository,
)
from agent_league.sdk.round_book import RoundBook
from agent_league.store import StoreError
from agent_league.store.events import (
    AgentRegistered,
    Event,
    MatchAssigned,
    MatchEnded,
    MatchVoided,
    RoundClosed,
    RoundOpened,
    SeasonOpened,
    SeasonStarted,
)
from agent_league.tournament import Result, Scoring
from agent_league.vocabulary import PlayerId

Write: TypeAlias = Callable[[], object]
"""Brings one file up to date; holds all it needs, so another thread may call it."""


class FileViews:
    """Follows a season, and writes what changed when it is told to.

    *season* is somebody else's, who applies each event to it that is `heard` here.
    """

    def __init__(self, season: Season, root: Path) -> None:
        league_id = season.settings.league_id
        self._season = season
        self._standings = StandingsRepository(root, league_id)
        self._rounds = RoundsRepository(root, league_id)
        self._matches = MatchRepository(root, league_id)
        self._histories = PlayerHistoryRepository(root)
        self._book = RoundBook(season.settings.game_type)
        self._ended: set[str] = set()
        self._played: dict[str, list[PlayedMatch]] = defaultdict(list)
        self._version = 0
        self._table_at, self._book_at = "", ""
        self._due: dict[str, Callable[[], Write]] = {}
        """For each file that is out of date, how to say what it should hold."""
        self._failed: dict[str, Write] = {}
        self._folds: Mapping[type[Event], Callable[[Any], None]] = {
            SeasonOpened: self._season_opened,
            AgentRegistered: self._agent_registered,
            SeasonStarted: self._table_changed,
            RoundOpened: self._round_opened,
            MatchAssigned: self._match_assigned,
            MatchEnded: self._match_ended,
            MatchVoided: self._table_changed,
            RoundClosed: self._round_closed,
        }

    def heard(self, event: Event) -> None:
        """Take note of which files *event* makes out of date; nothing is written."""
        fold = self._folds.get(type(event))
        if fold is not None:
            fold(event)

    def due(self) -> dict[str, Write]:
        """Return the writes that bring the files up to date, and count them as done.

        All of them are to be called before those that are returned next time.
        """
        writes = {**self._failed, **{name: write() for name, write in self._due.items()}}
        self._failed, self._due = {}, {}
        return writes

    def settle(self) -> None:
        """Count every file as written."""
        self._failed, self._due = {}, {}

    def flush(self, enough: Callable[[], bool] = lambda: False) -> bool:
        """Write what is due. A file that fails stays due; the others are written all the same.

        So do those that are left when *enough* says so; then it returns False.
        Raises the first failure: `StoreError`, or `ConfigError` for a file that is damaged.
        """
        errors, left = [], self.due()
        for name, write in list(left.items()):
            if enough():
                break
            del left[name]
            try:
                write()
            except LeagueError as error:
                self._failed[name] = write
                errors.append(error)
        self._failed.update(left)
        if errors:
            raise errors[0]
        return not left

    def _season_opened(self, event: SeasonOpened) -> None:
        """Take away what an earlier season of this name has left, and nothing of this one."""
        league_id = self._season.settings.league_id
        self._due["matches"] = lambda: partial(self._matches.clear, self._ended)
        self._due["players"] = lambda: partial(self._histories.forget, league_id, self._played)
        self._table_changed(event)
        self._book_changed(event)

    def _agent_registered(self, event: AgentRegistered) -> None:
        if event.agent_id in self._season.players:  # it may have come back under another name
            self._table_changed(event)

    def _round_opened(self, event: RoundOpened) -> None:
        self._book.opened(event)
        self._book_changed(event)

    def _match_assigned(self, event: MatchAssigned) -> None:
        referee = self._season.roster[event.referee_id]
        endpoint = referee.endpoint  # where it was then; it may move
        self._book.changed(event.match_id, referee_id=event.referee_id, referee_endpoint=endpoint)
        self._book_changed(event)

    def _match_ended(self, event: MatchEnded) -> None:
        self._ended.add(event.match_id)
        self._book.changed(event.match_id, status=event.status, winner=event.winner)
        self._book_changed(event)
        self._table_changed(event)
        record = self._record(event)
        self._due[event.match_id] = lambda: partial(self._matches.save, record)
        for player in event.players:
            self._remember(player, event)

    def _round_closed(self, event: RoundClosed) -> None:
        self._book.closed(event)
        self._book_changed(event)
        self._table_changed(event)

    def _remember(self, player: str, event: MatchEnded) -> None:
        league_id = self._season.settings.league_id
        self._played[player].append(_played(player, event, league_id))

        self._due[f"history of {player}"] = lambda: partial(
            self._histories.keep, player, league_id, list(self._played[player])
        )

    def _book_changed(self, event: Event) -> None:
        self._book_at = event.at
        self._due["rounds"] = self._write_rounds

    def _table_changed(self, event: Event) -> None:
        self._version += 1
        self._table_at = event.at
        self._due["standings"] = self._write_standings

    def _write_rounds(self) -> Write:
        league_id, rounds = self._season.settings.league_id, self._book.records()
        file = RoundsFile(league_id=league_id, last_updated=self._book_at, rounds=rounds)
        return partial(self._rounds.save, file)

    def _write_standings(self) -> Write:
        file = StandingsFile(
            league_id=self._season.settings.league_id,
            last_updated=self._table_at,
            version=self._version,
            rounds_completed=self._season.closed_rounds,
            standings=self._season.standings(),
        )
        return partial(self._standings.save, file)

    def _record(self, event: MatchEnded) -> MatchRecord:
        settings = self._season.settings
        assigned = self._season.assignments.get(event.match_id)
        return MatchRecord(
            league_id=settings.league_id,
            round_id=event.round_id,
            match_id=event.match_id,
            game_type=settings.game_type,
            player_A_id=event.players[0],
            player_B_id=event.players[1],
            referee_id=event.referee_id,
            started_at=assigned.at if assigned else None,
            ended_at=event.at,
            result=_reported(event, settings.scoring),
            violations=[
                Incident(agent_id=one.agent_id, rule=one.rule, got=one.got)
                for one in self._season.incidents.get(event.match_id, ())
            ],
        )


def export(events: Iterable[Event], root: Path, settings: LeagueSettings | None = None) -> None:
    """Write every file of a season again, from its events.

    The events do not say what a match was worth: where that was not the usual, the *settings* do.
    """
    happened = list(events)
    season = Season(settings or _terms(happened))
    views = FileViews(season, root)
    for event in happened:
        season.apply(event)
        views.heard(event)
    views.flush()


def _terms(events: Iterable[Event]) -> LeagueSettings:
    opened = next((event for event in events if isinstance(event, SeasonOpened)), None)
    if opened is None:
        raise StoreError("there is nothing to export: no season was opened")
    return LeagueSettings(
        seed=opened.seed,
        league_id=opened.league_id,
        game_type=opened.game_type,
        legs=opened.legs,
    )


def _reported(event: MatchEnded, scoring: Scoring) -> ReportedResult:
    first, second = (PlayerId(player) for player in event.players)
    losers = frozenset(PlayerId(player) for player in event.technical_losses)
    winner = PlayerId(event.winner) if event.winner else None
    result = Result(first, second, winner, losers)
    return ReportedResult(
        winner=event.winner,
        score={player: scoring.points(result, player) for player in (first, second)},
        details=event.details,
        status=cast("Status", event.status),
        termination=event.termination,
        technical_losses=event.technical_losses,
    )


_TOLD_APART = {"drawn_number", "number_parity", "choices", "reason"}


def _played(player: str, event: MatchEnded, league_id: str) -> PlayedMatch:
    (opponent,) = [other for other in event.players if other != player]
    return PlayedMatch(
        league_id=league_id,
        round_id=event.round_id,
        match_id=event.match_id,
        opponent_id=opponent,
        ended_at=event.at,
        result=_told(event),
    )


def _told(event: MatchEnded) -> GameResult:
    """Return the result as GAME_OVER tells it; of a stranger's report, whatever can be read."""
    details = event.details
    drawn, choices, reason = (details.get(key) for key in ("drawn_number", "choices", "reason"))
    number = drawn if type(drawn) is int else None
    return GameResult(
        status=cast("Status", event.status),
        winner_player_id=event.winner,
        drawn_number=number,
        number_parity=None if number is None else ("odd" if number % 2 else "even"),
        choices=choices if isinstance(choices, dict) else {},
        reason=reason if isinstance(reason, str) else event.termination,
        details={key: value for key, value in details.items() if key not in _TOLD_APART},
    )
