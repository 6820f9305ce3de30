"""Snapshots: the state of a season, so that a long one resumes without reading all its events.

Only the events count. A snapshot that cannot be read is ignored, and all events are read instead.
"""

import logging
from itertools import chain, takewhile

import msgspec
from msgspec import Struct

from agent_league.season.roster import Entry
from agent_league.season.season import Season, Stage
from agent_league.season.settings import LeagueSettings
from agent_league.store import events
from agent_league.store.events import Event, MatchAssigned, MatchEnded, ScheduledMatch
from agent_league.store.log import apply_events
from agent_league.store.store import Store
from agent_league.tournament.standings import Standing, Sums, Table
from agent_league.vocabulary import PlayerId

log = logging.getLogger("agent_league")

VERSION = 11
"""Counts up when the fields of a snapshot, or of an event in it, change or change their meaning."""


class _Head(Struct):
    version: int


class Snapshot(Struct, frozen=True, kw_only=True):
    """The state of a season and its roster, without the settings of the league."""

    version: int = VERSION
    stage: Stage
    players: list[PlayerId]
    round_id: int
    closed_rounds: int
    matches: list[ScheduledMatch]
    """The matches of the last closed round, of the rounds after it, and those played again."""
    assignments: list[MatchAssigned]
    results: list[MatchEnded]
    endings: dict[int, str]
    """How the matches of every closed round ended."""
    drawn: dict[int, list[ScheduledMatch]]
    tally: dict[str, int]
    voided: dict[str, str]
    added: list[events.MatchAdded]
    by_hand: list[str]
    announcement: events.AnnouncementMade | None
    paused: bool
    registration_closed: bool
    ended_early: str | None
    organiser: str | None
    violations: list[tuple[str, str, int]]
    """How often each agent broke each rule."""
    agents: list[Entry]
    rows: list[Standing]
    points: list[list[int]]
    """For each row, the places of the rivals that its player met, each before the points."""


class SeasonCopy(Struct, frozen=True):
    """A season at one moment. It can be encoded later, in another thread: that takes longer."""

    snapshot: Snapshot
    sums: Sums

    def encode(self) -> str:
        snapshot = msgspec.structs.replace(self.snapshot, points=self.sums.points())
        return msgspec.json.encode(snapshot).decode()


def copy_season(season: Season) -> SeasonCopy:
    """Return a copy of *season* that later events do not change."""
    added_ids = {one.match_id for one in season.added}
    latest_first = (m for m in reversed(season.matches.values()) if m.match_id not in added_ids)
    latest = list(takewhile(lambda match: match.round_id >= season.closed_rounds, latest_first))
    added = (one.match for one in season.added if one.match_id in season.matches)
    matches = list(chain(reversed(latest), added))
    ids = [match.match_id for match in matches]
    sums = season.table.copy_sums()
    snapshot = Snapshot(
        stage=season.stage,
        players=list(season.players),
        round_id=season.round_id,
        closed_rounds=season.closed_rounds,
        matches=matches,
        assignments=[season.assignments[one] for one in ids if one in season.assignments],
        results=[season.results[one] for one in ids if one in season.results],
        endings=dict(season.endings),
        drawn=dict(season.drawn),
        tally=dict(season.tally),
        voided=dict(season.voided),
        added=list(season.added),
        by_hand=sorted(season.by_hand),
        announcement=season.announcement,
        paused=season.paused,
        registration_closed=season.registration_closed,
        ended_early=season.ended_early,
        organiser=season.organiser,
        violations=[(who, rule, times) for (who, rule), times in season.violations.items()],
        agents=season.roster.entries(),
        rows=sums.rows,
        points=[],
    )
    return SeasonCopy(snapshot, sums)


def restore_season(season: Season, body: str) -> bool:
    """Bring a new *season* to the state in *body*; return False if *body* cannot be read."""
    try:
        if msgspec.json.decode(body, type=_Head).version != VERSION:
            return False
        snapshot = msgspec.json.decode(body, type=Snapshot)
        table = Table(snapshot.players, season.settings.scoring)
        table.restore(snapshot.rows, snapshot.points)
    except ValueError as error:  # msgspec's errors are ValueErrors too
        log.warning("a snapshot cannot be read, so all events are read: %s", error)
        return False
    _fill_season(snapshot, season)
    season.table = table
    return True


def _fill_season(snapshot: Snapshot, season: Season) -> None:
    season.stage, season.players = snapshot.stage, snapshot.players
    season.round_id, season.closed_rounds = snapshot.round_id, snapshot.closed_rounds
    season.matches.update({match.match_id: match for match in snapshot.matches})
    season.assignments.update({given.match_id: given for given in snapshot.assignments})
    season.results.update({ended.match_id: ended for ended in snapshot.results})
    season.endings.update(snapshot.endings)
    season.drawn.update(snapshot.drawn)
    season.tally.update(snapshot.tally)
    season.voided.update(snapshot.voided)
    season.added.extend(snapshot.added)
    season.by_hand.update(snapshot.by_hand)
    season.announcement = snapshot.announcement
    season.paused, season.organiser = snapshot.paused, snapshot.organiser
    season.registration_closed = snapshot.registration_closed
    season.ended_early = snapshot.ended_early
    season.violations.update({(who, rule): times for who, rule, times in snapshot.violations})
    season.roster.restore(snapshot.agents, playing=snapshot.stage is not Stage.REGISTRATION)


async def restore_latest(season: Season, store: Store) -> int:
    """Bring a new season to the latest snapshot; return the number of the last event in it.

    It is 0 if there is no snapshot that this program can read: then all events are needed.
    """
    found = await store.snapshot(season.settings.league_id)
    return found[0] if found is not None and restore_season(season, found[1]) else 0


async def load_season(store: Store, settings: LeagueSettings, *, whole: bool = False) -> Season:
    """Return a stored season; unless *whole*, `results` may hold only the latest ones."""
    season = Season(settings)
    after = 0 if whole else await restore_latest(season, store)
    async for page in store.events(settings.league_id, after):
        apply_events(page, lambda stored: season.apply(stored.event))
    return season


def has_happened(season: Season, event: Event) -> bool:  # noqa: C901, PLR0911 - one for each kind
    """Whether an event that can happen only once has happened to a resumed season."""
    match event:
        case events.SeasonStarted():
            return season.stage is not Stage.REGISTRATION
        case events.RoundOpened():
            return event.round_id <= season.round_id
        case events.MatchEnded():
            return event.match_id in season.results or season.is_past(event.match_id)
        case events.MatchAdded():
            return any(event.match_id == one.match_id for one in season.added)
        case events.MatchVoided():
            return event.match_id in season.voided
        case events.RoundClosed():
            return event.round_id <= season.closed_rounds
        case events.SeasonEnded():
            return season.stage is Stage.COMPLETED
        case events.EndOrdered():
            return season.ended_early is not None
    return isinstance(event, events.SeasonOpened)  # a season with a snapshot was opened
