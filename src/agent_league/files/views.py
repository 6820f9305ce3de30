"""The files of a season, kept up to date while it is played, or written again from its events.

They depend on the events alone, not on the clock or on when they are written. So the files of a
finished season are always the same, to the last byte.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from msgspec import convert

from agent_league.files import records, repositories
from agent_league.protocol import LeagueError
from agent_league.protocol.results import make_game_result, make_reported_result
from agent_league.season.endings import VOIDED
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store import StoreError, events
from agent_league.store.events import Event, MatchEnded, SeasonOpened


class FileViews:
    """Collects which files of a season are out of date, and writes them on demand.

    The caller applies each event to *season* before it calls `apply` here.
    """

    def __init__(self, season: Season, root: Path) -> None:
        league_id = season.settings.league_id
        self._season = season
        self._standings = repositories.StandingsRepository(root, league_id)
        self._rounds = repositories.RoundsRepository(root, league_id)
        self._matches = repositories.MatchRepository(root, league_id)
        self._histories = repositories.PlayerHistoryRepository(root)
        self._book = records.RoundBook(season.settings.game_type)
        self._ended: set[str] = set()
        self._played: dict[str, dict[str, records.PlayedMatch]] = defaultdict(dict)
        """The matches that are not in the history of a player yet, by player and match."""
        self._version = 0
        self._pending: dict[str, Callable[[], object]] = {}
        """For each file that is out of date, the function that writes it."""

    def apply(self, event: Event) -> None:  # noqa: C901 - one case for each kind
        """Note which files *event* makes out of date; write nothing."""
        match event:
            case events.MatchEnded():
                self._end_match(event)
            case events.MatchAssigned():
                referee = self._season.roster[event.referee_id]
                endpoint = referee.endpoint  # of this moment: it may change
                self._book.update_match(
                    event.match_id, referee_id=event.referee_id, referee_endpoint=endpoint
                )
                self._mark_stale(event, rounds=True)
            case events.RoundOpened():
                self._book.open_round(event)
                self._mark_stale(event, rounds=True)
            case events.RoundClosed():
                self._book.close_round(event)
                self._mark_stale(event, rounds=True, standings=True)
            case events.SeasonOpened():
                # Remove the files of an earlier season with this name.
                self._pending["matches"] = partial(self._matches.clear, self._ended)
                self._pending["players"] = partial(self._histories.forget, event.league_id)
                self._mark_stale(event, rounds=True, standings=True)
            case events.MatchVoided():
                self._void_match(event)
            case events.MatchAdded():
                self._book.add_match(event.match)
                self._mark_stale(event, rounds=True)
                change = partial(self._matches.update, event.replaces, replayed_as=event.match_id)
                self._pending[f"replay of {event.replaces}"] = change
            case events.SeasonStarted():
                self._mark_stale(event, standings=True)
            case events.AgentRegistered() if event.agent_id in self._season.players:
                self._mark_stale(event, standings=True)  # it may have a new name

    def mark_written(self) -> None:
        """Count every file as written."""
        self._pending.clear()
        self._played.clear()

    def flush(self, should_stop: Callable[[], bool] = lambda: False) -> bool:
        """Write the files that are out of date; return False if *should_stop* ended that early.

        A file that cannot be written stays out of date, and the others are written. Then the first
        error is raised: `StoreError`, or `ConfigError` for a file that is damaged.
        """
        errors = []
        for name, write in list(self._pending.items()):
            if should_stop():
                break
            try:
                write()
                del self._pending[name]
            except LeagueError as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return not self._pending

    def _mark_stale(self, event: Event, *, rounds: bool = False, standings: bool = False) -> None:
        if rounds:
            self._pending["rounds"] = partial(self._save_rounds, event.at)
        if standings:
            self._version += 1
            self._pending["standings"] = partial(self._save_standings, event.at)

    def _end_match(self, event: MatchEnded) -> None:
        self._ended.add(event.match_id)
        self._book.update_match(event.match_id, status=event.status, winner=event.winner)
        self._mark_stale(event, rounds=True, standings=True)
        self._pending[event.match_id] = partial(self._matches.save, self._make_record(event))
        self._mark_histories_stale(event)

    def _void_match(self, event: events.MatchVoided) -> None:
        self._book.update_match(event.match_id, status=VOIDED)
        self._mark_stale(event, rounds=True, standings=True)
        change = partial(self._matches.update, event.match_id, voided=True, void_reason=event.why)
        self._pending[f"void {event.match_id}"] = change  # after the match itself is written
        league_id = self._season.settings.league_id
        for player in event.players:
            void = partial(self._histories.void, player, league_id, event.match_id)
            self._pending[f"void {event.match_id} of {player}"] = void

    def _mark_histories_stale(self, ended: MatchEnded) -> None:
        """Note a match for the histories of its two players."""
        for player, opponent in zip(ended.players, reversed(ended.players), strict=True):
            self._played[player][ended.match_id] = records.PlayedMatch(
                league_id=self._season.settings.league_id,
                round_id=ended.round_id,
                match_id=ended.match_id,
                opponent_id=opponent,
                ended_at=ended.at,
                result=make_game_result(ended.result),
            )
            self._pending[f"history of {player}"] = partial(self._save_history, player)

    def _save_history(self, player: str) -> None:
        self._histories.add(player, self._played[player].values())
        del self._played[player]

    def _save_rounds(self, at: str) -> None:
        league_id, rounds = self._season.settings.league_id, self._book.records()
        self._rounds.save(records.RoundsFile(league_id=league_id, last_updated=at, rounds=rounds))

    def _save_standings(self, at: str) -> None:
        file = records.StandingsFile(
            league_id=self._season.settings.league_id,
            last_updated=at,
            version=self._version,
            rounds_completed=self._season.closed_rounds,
            standings=self._season.standings(),
        )
        self._standings.save(file)

    def _make_record(self, event: MatchEnded) -> records.MatchRecord:
        settings, result = self._season.settings, event.result
        assigned = self._season.assignments.get(event.match_id)
        return records.MatchRecord(
            league_id=settings.league_id,
            round_id=event.round_id,
            match_id=event.match_id,
            game_type=settings.game_type,
            player_A_id=event.players[0],
            player_B_id=event.players[1],
            referee_id=event.referee_id,
            started_at=assigned.at if assigned else None,
            ended_at=event.at,
            result=make_reported_result(result, settings.scoring.score(result)),
            violations=convert(
                self._season.incidents.get(event.match_id, []),
                list[records.Incident],
                from_attributes=True,
            ),
        )


def export(events: Iterable[Event], root: Path, settings: LeagueSettings | None = None) -> None:
    """Write all files of a season from its events.

    The events do not contain the scoring: if it is not the default one, *settings* must have it.
    """
    history = list(events)
    if settings is None:
        opened = next((event for event in history if isinstance(event, SeasonOpened)), None)
        if opened is None:
            raise StoreError("there is nothing to export: no season was opened")
        settings = convert(opened, LeagueSettings, from_attributes=True)
    season = Season(settings)
    views = FileViews(season, root)
    for event in history:
        season.apply(event)
        views.apply(event)
    views.flush()
