"""Snapshots: what a season has come to, so that a long one is taken up without all its events.

A snapshot is never the truth. One that cannot be read is left alone, and the events are read
from the first one instead.
"""

import asyncio
from collections.abc import Iterator
from itertools import takewhile

import msgspec
from msgspec import Struct

from agent_league.agent import Agent, log
from agent_league.league.roster import Entry
from agent_league.league.season import Season, Stage
from agent_league.league.settings import LeagueSettings
from agent_league.store import Event, EventLog, StoreError
from agent_league.store.events import (
    MatchAssigned,
    MatchEnded,
    MatchVoided,
    RoundClosed,
    RoundOpened,
    ScheduledMatch,
    SeasonEnded,
    SeasonOpened,
    SeasonStarted,
)
from agent_league.store.log import Store
from agent_league.tournament import Standing, Sums, Table
from agent_league.vocabulary import PlayerId

VERSION = 4
"""Counts up when a snapshot, or an event in it, changes its fields or comes to mean another sum."""
EVERY = 5_000
"""How many results may come in before the next snapshot."""


class _Head(Struct):
    version: int


class Snapshot(Struct, frozen=True, kw_only=True):
    """What a season and its roster have come to; how the league is run is kept elsewhere."""

    version: int = VERSION
    stage: Stage
    players: list[PlayerId]
    round_id: int
    closed_rounds: int
    matches: list[ScheduledMatch]
    """Those of the last closed round, and of the rounds after it."""
    assignments: list[MatchAssigned]
    results: list[MatchEnded]
    endings: dict[int, str]
    """How the matches of every closed round ended."""
    tally: dict[str, int]
    voided: list[str]
    paused: bool
    organiser: str | None
    violations: list[tuple[str, str, int]]
    """How often each agent broke each rule."""
    agents: list[Entry]
    rows: list[Standing]
    points: list[list[int]]
    """What each player took from each, in the order of the rows."""


class Taken(Struct, frozen=True):
    """A season as it was at one moment. To write it down takes longer, and may be done later."""

    told: Snapshot
    sums: Sums

    def written(self) -> str:
        whole = msgspec.structs.replace(self.told, points=self.sums.points())
        return msgspec.json.encode(whole).decode()


def taken(season: Season) -> Taken:
    """Return what *season* has come to; whatever happens to it later changes nothing in that."""
    matches = list(_recent(season))[::-1]
    ids = [match.match_id for match in matches]
    sums = season.table.copied()
    told = Snapshot(
        stage=season.stage,
        players=list(season.players),
        round_id=season.round_id,
        closed_rounds=season.closed_rounds,
        matches=matches,
        assignments=[season.assignments[one] for one in ids if one in season.assignments],
        results=[season.results[one] for one in ids if one in season.results],
        endings=dict(season.endings),
        tally=dict(season.tally),
        voided=sorted(season.voided),
        paused=season.paused,
        organiser=season.organiser,
        violations=[(who, rule, times) for (who, rule), times in season.violations.items()],
        agents=season.roster.entries(),
        rows=sums.rows,
        points=[],
    )
    return Taken(told, sums)


def _recent(season: Season) -> Iterator[ScheduledMatch]:
    """Yield the matches that may still be asked for, the latest first."""
    oldest = season.closed_rounds
    return takewhile(lambda match: match.round_id >= oldest, reversed(season.matches.values()))


def take_up(season: Season, body: str) -> bool:
    """Make of *season*, to which nothing has happened, what *body* tells; False if it cannot."""
    try:
        if msgspec.json.decode(body, type=_Head).version != VERSION:
            return False
        told = msgspec.json.decode(body, type=Snapshot)
        table = Table(told.players, season.settings.scoring)
        table.take_up(told.rows, told.points)
    except ValueError as error:  # msgspec's errors are ValueErrors too
        log.warning("a snapshot cannot be read, all events are: %s", error)
        return False
    _give(told, season)
    season.table = table
    return True


def _give(told: Snapshot, season: Season) -> None:
    season.stage, season.players = told.stage, told.players
    season.round_id, season.closed_rounds = told.round_id, told.closed_rounds
    season.matches.update({match.match_id: match for match in told.matches})
    season.assignments.update({given.match_id: given for given in told.assignments})
    season.results.update({ended.match_id: ended for ended in told.results})
    season.endings.update(told.endings)
    season.tally.update(told.tally)
    season.voided.update(told.voided)
    season.paused, season.organiser = told.paused, told.organiser
    season.violations.update({(who, rule): times for who, rule, times in told.violations})
    season.roster.take_up(told.agents, playing=told.stage is not Stage.REGISTRATION)


async def take_up_latest(season: Season, store: Store) -> int:
    """Make of a new season what the latest snapshot tells; return the event it was taken after.

    That is 0 if there is none, or none that this program can read: then all events are needed.
    """
    found = await store.snapshot(season.settings.league_id)
    return found[0] if found is not None and take_up(season, found[1]) else 0


async def season_of(store: Store, settings: LeagueSettings, *, whole: bool = False) -> Season:
    """Return a stored season; unless it is to be *whole*, its `results` may be the latest ones."""
    season = Season(settings)
    after = 0 if whole else await take_up_latest(season, store)
    async for page in store.events(settings.league_id, after):
        for stored in page:
            season.apply(stored.event)
    return season


def told(season: Season, event: Event) -> bool:  # noqa: PLR0911 - one for each kind
    """Whether what can happen only once has happened, to a season that was taken up."""
    match event:
        case SeasonStarted():
            return season.stage is not Stage.REGISTRATION
        case RoundOpened():
            return event.round_id <= season.round_id
        case MatchEnded():
            return event.round_id <= season.closed_rounds or event.match_id in season.results
        case MatchVoided():
            return event.match_id in season.voided
        case RoundClosed():
            return event.round_id <= season.closed_rounds
        case SeasonEnded():
            return season.stage is Stage.COMPLETED
    return isinstance(event, SeasonOpened)  # of a season that was not opened there is no snapshot


class SnapshotKeeper:
    """Keeps a snapshot now and then, beside everything else; what fails is said, and no more."""

    def __init__(self, manager: Agent, season: Season, events: EventLog, store: Store) -> None:
        self._manager = manager
        self._season = season
        self._events = events
        self._store = store
        self._results = 0
        """How many have come in since the last snapshot."""
        self._one = asyncio.Lock()
        events.listen(self._heard, whole=False)

    async def save(self) -> None:
        """Keep what the season has come to."""
        async with self._one:
            self._results = 0
            seq, now = len(self._events), taken(self._season)
            body = await asyncio.to_thread(now.written)
            try:
                await self._store.save_snapshot(self._season.settings.league_id, seq, body)
            except StoreError as error:
                log.warning("no snapshot was kept: %s", error)

    def _heard(self, event: Event) -> None:
        self._results += isinstance(event, MatchEnded)
        if self._results == EVERY:  # only at this one: the count goes on until it is taken
            self._manager.spawn(self.save())
