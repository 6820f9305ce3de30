"""The files of a stored league: whoever keeps them, in however many lives, they end up the same."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_league.files import FileUpdater, export
from agent_league.season import answers
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import copy_season, load_season
from agent_league.store import Event, StoredEvent, StoreError
from agent_league.store.store import Store
from files.test_views import tree
from league_box import Box, played
from season.test_season import folded, seasons

BOX = played(Box(["random", "markov", "always_even", "pattern", "mirror"], 2, legs=2))
EVENTS = list(BOX.events)
LEAGUE = BOX.settings.league_id


class Shelf:
    """Holds the events of one league, and perhaps a snapshot: all that is read of a store."""

    def __init__(self, log: Sequence[Event], snapshot: tuple[int, str] | None = None) -> None:
        self._pages = [[StoredEvent(seq, event)] for seq, event in enumerate(log, 1)]
        self._snapshot = snapshot
        self.read: list[int] = []

    async def events(self, league_id: str, after: int = 0) -> AsyncIterator[list[StoredEvent]]:
        for page in self._pages[after:]:
            self.read.append(page[0].seq)
            yield page

    async def snapshot(self, league_id: str) -> tuple[int, str] | None:
        return self._snapshot


def kept(
    log: Sequence[Event], root: Path, terms: LeagueSettings = BOX.settings, **how: Any
) -> FileUpdater:
    """Bring the files up to date in a new life."""
    upkeep = FileUpdater(terms, root)
    go_on(upkeep, log, **how)
    return upkeep


def go_on(upkeep: FileUpdater, log: Sequence[Event], **how: Any) -> bool:
    return asyncio.run(upkeep.catch_up(cast("Store", Shelf(log)), **how))


def data(root: Path) -> dict[str, bytes]:
    return {name: body for name, body in tree(root).items() if name.startswith("data/")}


@pytest.fixture
def wanted(tmp_path: Path) -> dict[str, bytes]:
    export(EVENTS, tmp_path / "wanted", BOX.settings)
    return data(tmp_path / "wanted")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(made=seasons(), at=st.integers(0, 200), lives=st.lists(st.integers(0, 200), max_size=3))
def test_a_season_from_a_snapshot_is_the_season_replayed_whole(
    made: tuple[LeagueSettings, list[Event]], at: int, lives: list[int], tmp_path: Path
) -> None:
    terms, log = made
    for name in ("live", "whole"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    at = min(at, len(log))
    shelf = Shelf(log, (at, copy_season(folded(terms, log[:at])).encode()))
    season = asyncio.run(load_season(cast("Store", shelf), terms))
    assert shelf.read == list(range(at + 1, len(log) + 1))
    whole: Season = folded(terms, log)
    assert season.standings() == whole.standings()
    assert answers.schedule(season, {}) == answers.schedule(whole, {})
    assert answers.status(season) == answers.status(whole)
    for end in [*sorted(lives), len(log)]:
        kept(log[:end], tmp_path / "live", terms)
    export(log, tmp_path / "whole", terms)
    assert data(tmp_path / "live") == data(tmp_path / "whole")


def test_what_was_written_in_an_earlier_life_is_not_written_again(
    tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    half = len(EVENTS) // 2
    kept(EVENTS[:half], tmp_path / "live")
    marked = tmp_path / "live" / "data" / "matches" / LEAGUE / "R1M1.json"
    marked.write_text("looked at by nobody", encoding="utf-8")
    kept(EVENTS, tmp_path / "live")
    assert marked.read_text(encoding="utf-8") == "looked at by nobody"
    assert data(tmp_path / "live").keys() == wanted.keys()


def without_data(root: Path) -> None:
    shutil.rmtree(root / "data")


def of_another_season(root: Path) -> None:
    other = played(Box(["random"] * 7, seed="larger"))
    kept(list(other.events), root, other.settings)


def of_the_future(root: Path) -> None:
    kept([*EVENTS, *(EVENTS[-1:] * 3)], root)


def scribbled(root: Path) -> None:
    (root / "state" / LEAGUE / "files.json").write_text("{", encoding="utf-8")


@pytest.mark.parametrize("damage", [without_data, of_another_season, of_the_future, scribbled])
def test_files_that_cannot_be_trusted_are_all_written_again(
    tmp_path: Path, wanted: dict[str, bytes], damage: Callable[[Path], None]
) -> None:
    root = tmp_path / "live"
    kept(EVENTS[:-5], root)
    damage(root)
    kept(EVENTS, root)
    assert data(root) == wanted


def test_one_who_is_stopped_goes_on_later(tmp_path: Path, wanted: dict[str, bytes]) -> None:
    root, upkeep = tmp_path / "live", FileUpdater(BOX.settings, tmp_path / "live")
    for turns in (0, 3, len(EVENTS), 5):
        left = iter(range(turns))
        assert not go_on(upkeep, EVENTS, should_stop=lambda left=left: next(left, None) is None)
    assert go_on(upkeep, EVENTS)
    assert data(root) == wanted
    assert go_on(upkeep, EVENTS)


def test_a_file_that_cannot_be_written_is_written_later(
    tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    root, upkeep = tmp_path / "live", FileUpdater(BOX.settings, tmp_path / "live")
    hindrance = root / "data" / "matches" / LEAGUE / "R2M1.json"
    hindrance.mkdir(parents=True)
    with pytest.raises(StoreError, match="R2M1"):
        go_on(upkeep, EVENTS)
    assert not (root / "state").exists()
    hindrance.rmdir()
    assert go_on(upkeep, EVENTS)
    assert data(root) == wanted
