import asyncio
import json
import logging
from collections.abc import AsyncIterator, Container
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.http.memory import Network
from agent_league.league import LeagueManager, stored_season
from agent_league.league.reports import judge_report
from agent_league.protocol import ProtocolError, Role
from agent_league.protocol.play import ResultReport
from agent_league.protocol.results import ReportedResult
from agent_league.season import answers
from agent_league.season.season import Season, Stage
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import copy_season, has_happened, load_season, restore_season
from agent_league.serving.site import make_site
from agent_league.store import Event, EventLog, StoreError
from agent_league.store.events import (
    LeaguePaused,
    MatchEnded,
    MatchVoided,
    OrganiserAppointed,
    RoundClosed,
)
from agent_league.store.log import NullSink, Sink, StoredEvent
from agent_league.store.sqlite import SqliteStore
from agent_league.store.store import Store
from league_box import LEAGUE_URL, Box, played
from season.test_season import all_of, folded, seasons
from store.books import opened
from timewarp import clock, run

BOX = played(Box(["random", "markov", "always_even", "pattern", "mirror"], 2, legs=2))
EVENTS = list(BOX.events)
HALF = EVENTS.index(next(e for e in EVENTS if isinstance(e, RoundClosed) and e.round_id == 5)) + 3
"""Somewhere in the sixth of ten rounds."""


def restored(terms: LeagueSettings, body: str, later: list[Event]) -> Season:
    season = Season(terms)
    assert restore_season(season, body)
    for event in later:
        season.apply(event)
    return season


def comparable(season: Season, since: int) -> dict[str, Any]:
    """Return what can be asked of a season, of its matches only those of recent rounds."""
    whole = all_of(season)
    recent = {m.match_id for m in season.matches.values() if m.round_id >= since}
    for name in ("matches", "assignments", "results"):
        whole[name] = {one: known for one, known in whole[name].items() if one in recent}
    entries = season.roster.of(Role.PLAYER)
    whole["next"] = [answers.next_match(season, {"player_id": e.agent_id}) for e in entries]
    whole["status"] = answers.status(season)
    whole["schedule"] = answers.schedule(season, {})
    whole["keys"] = [entry.tokens for entry in season.roster.entries()]
    whole["residents"] = [season.roster.at(entry.endpoint) for entry in entries]
    return {**whole, "tally": season.tally, "played": season.played}


@given(seasons(), st.integers(0, 200))
def test_a_season_goes_on_from_a_snapshot_as_if_it_had_heard_everything(
    made: tuple[LeagueSettings, list[Event]], at: int
) -> None:
    terms, log = made
    before = folded(terms, log[:at])
    season = restored(terms, copy_season(before).encode(), log[at:])
    whole, since = folded(terms, log), before.closed_rounds
    assert comparable(season, since) == comparable(whole, since)
    assert season.played == len(whole.results)
    assert copy_season(season).encode() == copy_season(whole).encode()


@given(seasons(), st.integers(0, 200))
def test_what_happened_before_a_snapshot_cannot_happen_again(
    made: tuple[LeagueSettings, list[Event]], at: int
) -> None:
    terms, log = made
    season = restored(terms, copy_season(folded(terms, log[:at])).encode(), [])
    once = [event for event in log if event.once is not None]
    known = {event.once for event in log[:at]} | {"season_opened"}
    assert [has_happened(season, event) for event in once] == [
        event.once in known for event in once
    ]


def test_a_snapshot_stays_what_it_was_whatever_happens_later() -> None:
    season = folded(BOX.settings, EVENTS[:HALF])
    now, before = copy_season(season), copy_season(season).encode()
    for event in EVENTS[HALF:]:
        season.apply(event)
    assert now.encode() == before


def damaged(body: str, **changes: Any) -> str:
    return json.dumps({**json.loads(body), **changes})


@pytest.mark.parametrize(
    "changes",
    [{"version": 0}, {"version": 99}, {"version": None}, {"points": [[1]]}, {"stage": "?"}],
    ids=str,
)
def test_a_snapshot_that_cannot_be_read_leaves_the_season_alone(changes: dict[str, Any]) -> None:
    season = Season(BOX.settings)
    body = copy_season(folded(BOX.settings, EVENTS[:HALF])).encode()
    assert not restore_season(season, damaged(body, **changes))
    assert not restore_season(season, body[:-5])
    assert all_of(season) == all_of(Season(BOX.settings))


async def stored_league(store: Store, snapshot: str | None = None) -> None:
    """Write the first half of the league down, and perhaps a snapshot of somewhere in it."""
    league_id = BOX.settings.league_id
    sink = await store.open(league_id, "2025-01-15T10:00:00Z", "{}")
    for seq, event in enumerate(EVENTS[:HALF], 1):
        await sink.keep(StoredEvent(seq, event))
    at = HALF - 2
    body = copy_season(folded(BOX.settings, EVENTS[:at])).encode()
    await store.save_snapshot(league_id, at, body if snapshot is None else snapshot)


@pytest.mark.parametrize("snapshot", [None, "{}", '{"version": 99}', "?"])
def test_a_stored_season_is_the_same_with_a_snapshot_and_without(
    tmp_path: Path, snapshot: str | None
) -> None:
    async def main() -> Season:
        async with opened(str(tmp_path / "league.db")) as store:
            await stored_league(store, snapshot)
            return await load_season(store, BOX.settings)

    season, whole = asyncio.run(main()), folded(BOX.settings, EVENTS[:HALF])
    assert comparable(season, 5) == comparable(whole, 5)
    assert (len(season.results) < season.played) is (snapshot is None)


async def taken_up(path: Path, log: EventLog) -> tuple[LeagueManager, Store]:
    first = SqliteStore(path)
    await stored_league(first)
    await first.close()
    store, manager = SqliteStore(path), LeagueManager(BOX.settings, Network(), log, clock=clock)
    await manager.open(store)
    return manager, store


def test_a_manager_hears_only_what_came_after_the_snapshot(tmp_path: Path) -> None:
    async def main() -> None:
        log, received = EventLog(), list[Event]()
        log.listen(received.append, needs_all_events=False)
        manager, store = await taken_up(tmp_path / "league.db", log)
        assert received == EVENTS[HALF - 2 : HALF]
        assert len(log) == HALF
        for event in EVENTS[:HALF]:
            assert event.once is None or not await log.append(event)
        for event in EVENTS[HALF:]:
            assert await log.append(event)
        assert manager.season.stage is Stage.COMPLETED
        assert manager.season.standings() == BOX.season.standings()
        await store.close()

    asyncio.run(main())


def test_a_manager_skips_nothing_if_somebody_must_hear_everything(tmp_path: Path) -> None:
    async def main() -> None:
        log, received = EventLog(), list[Event]()
        log.listen(received.append)
        manager, store = await taken_up(tmp_path / "league.db", log)
        assert received == EVENTS[:HALF]
        assert len(manager.season.results) == manager.season.played
        await store.close()

    asyncio.run(main())


def half_remembered() -> Season:
    return restored(BOX.settings, copy_season(folded(BOX.settings, EVENTS[:HALF])).encode(), [])


def report(match_id: str) -> ResultReport:
    return ResultReport(
        protocol="league.v2",
        sender="referee:REF01",
        timestamp="2025-01-15T10:00:00Z",
        conversation_id="c",
        league_id="l",
        round_id=1,
        match_id=match_id,
        game_type="even_odd",
        result=ReportedResult(winner=None, score={}, details={}),
        ticket="tkt_forgotten",
    )


def test_a_late_report_of_a_match_that_is_not_at_hand_is_known_already() -> None:
    season = half_remembered()
    assert "R1M1" not in season.matches
    assert judge_report(report("R1M1"), season.roster["REF01"], season, "now") is None
    with pytest.raises(ProtocolError):
        judge_report(report("R1M1"), season.roster["P01"], season, "now")


@pytest.mark.parametrize("match_id", ["R1M3", "R0M1", "R01M1", "R7M1", "R5M1", "x", "R1M1 "])
def test_nothing_else_is_taken_for_a_match_that_was_played(match_id: str) -> None:
    season = half_remembered()
    assert not season.is_past(match_id)
    with pytest.raises(ProtocolError):
        judge_report(report(match_id), season.roster["REF01"], season, "now")


def test_the_schedule_tells_how_the_long_past_ended() -> None:
    season, whole = half_remembered(), folded(BOX.settings, EVENTS[:HALF])
    assert "R1M1" not in season.results
    assert answers.schedule(season, {}) == answers.schedule(whole, {})
    ended = {
        match["status"]
        for one in answers.schedule(season, {})["rounds"][:4]
        for match in one["matches"]
    }
    assert ended <= {"WIN", "DRAW", "TECHNICAL_LOSS"}


def test_answers_say_what_they_do_not_have_at_hand() -> None:
    season, whole = half_remembered(), folded(BOX.settings, EVENTS[:HALF])
    stats = answers.player_stats(season, {"player_id": "P01"})
    everything = answers.player_stats(whole, {"player_id": "P01"})
    assert stats["earlier_matches"] + len(stats["matches"]) == len(everything["matches"])
    assert "earlier_matches" not in everything


class Album:
    """Keeps snapshots, but not those with a number in *torn*: what a new league asks of a store."""

    def __init__(self, torn: Container[int]) -> None:
        self.kept: list[tuple[int, str]] = []
        self._torn = torn
        self._asked = 0

    async def signing_key(self, league_id: str, new_key: str) -> str:
        return "the key of the league"

    async def open(self, league_id: str, opened_at: str, settings: str) -> Sink:
        return NullSink()

    async def snapshot(self, league_id: str) -> None:
        return None

    async def events(self, league_id: str, after: int = 0) -> AsyncIterator[list[StoredEvent]]:
        for page in list[list[StoredEvent]]():
            yield page

    async def save_snapshot(self, league_id: str, seq: int, body: str) -> None:
        self._asked += 1
        if self._asked in self._torn:
            raise StoreError("the album is torn")
        self.kept.append((seq, body))


def filmed(torn: Container[int], monkeypatch: pytest.MonkeyPatch) -> tuple[Box, Album]:
    """Play a league whose manager keeps a snapshot after every fourth result."""
    monkeypatch.setattr(stored_season, "SNAPSHOT_INTERVAL", 4)
    box, album = Box(["random", "markov", "always_even", "pattern"], 1, legs=2), Album(torn)

    async def main() -> None:
        store: Any = album
        await box.manager.open(store)
        await box.play()

    run(main())
    return box, album


def test_a_manager_keeps_snapshots_while_it_plays_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    box, album = filmed((), monkeypatch)
    events = list(box.events)
    assert len(album.kept) >= 3
    assert album.kept[-1][0] == len(events)
    for seq, body in album.kept:
        assert body == copy_season(folded(box.settings, events[:seq])).encode()
        season = restored(box.settings, body, events[seq:])
        assert season.standings() == box.season.standings()


def test_a_snapshot_that_cannot_be_kept_is_only_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        box, album = filmed({1, 2}, monkeypatch)
    assert box.season.stage is Stage.COMPLETED
    assert caplog.text.count("no snapshot was kept: the album is torn") == 2
    assert len(box.happened(MatchEnded)) == box.season.played
    assert album.kept[-1][0] == len(list(box.events))  # it was tried again


async def interrupted(box: Box, store: Store) -> None:
    """Play until seven results are in; then keep a snapshot, and fall silent."""
    box.manager = LeagueManager(box.settings, box.net, EventLog(), clock=clock)
    season, events, enough = box.manager.season, box.manager.events, asyncio.Event()
    events.listen(lambda _: enough.set() if season.played >= 7 else None, needs_all_events=False)
    await box.manager.open(store)
    await box.open()
    await box.fill()
    playing = asyncio.ensure_future(box.manager.run())
    await enough.wait()
    playing.cancel()
    await asyncio.wait([playing])
    await store.save_snapshot(box.settings.league_id, len(events), copy_season(season).encode())
    await box.manager.close()


async def resumed(box: Box, store: Store) -> Season:
    box.manager = LeagueManager(box.settings, box.net, EventLog(), clock=clock)
    await box.manager.open(store)
    assert len(box.season.results) < box.season.played < 12
    box.net.host(LEAGUE_URL, make_site(box.manager))
    await box.manager.run()
    await box.close()
    return box.season


def test_a_league_goes_on_from_its_snapshot_to_the_same_end(tmp_path: Path) -> None:
    players, path = ["always_even", "always_odd", "always_even", "always_odd"], tmp_path / "l.db"
    box, whole = Box(players, 2, legs=2), played(Box(players, 2, legs=2))

    async def main() -> tuple[Season, Season]:
        async with opened(str(path)) as store:
            await interrupted(box, store)
        async with opened(str(path)) as store:
            season = await resumed(box, store)
            return season, await load_season(store, box.settings)

    for season in run(main()):
        assert season.played == 12
        assert season.stage is Stage.COMPLETED
        assert season.standings() == whole.season.standings()


def test_what_the_organiser_did_is_in_a_snapshot() -> None:
    match = next(event for event in EVENTS if isinstance(event, MatchEnded))
    voided = MatchVoided(
        at=match.at,
        match_id=match.match_id,
        round_id=match.round_id,
        players=match.players,
        winner=match.winner,
        technical_losses=match.technical_losses,
        why="a test",
    )
    orders = [OrganiserAppointed(at=match.at, token_hash="h"), LeaguePaused(at=match.at), voided]
    log = [*EVENTS[:HALF], *orders, *EVENTS[HALF:]]
    whole = folded(BOX.manager.settings, log)
    season = restored(
        BOX.manager.settings,
        copy_season(folded(BOX.manager.settings, log[: HALF + 3])).encode(),
        log[HALF + 3 :],
    )
    assert (season.voided, season.paused, season.organiser) == (
        {match.match_id: "a test"},
        True,
        "h",
    )
    assert (
        season.standings() == whole.standings() != folded(BOX.manager.settings, EVENTS).standings()
    )
    assert has_happened(season, voided)
