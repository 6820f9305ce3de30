"""What a store and a folder keep beside the events must say the same as the events."""

from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from agent_league.files import export
from agent_league.files.layout import Layout
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import VERSION, Snapshot, copy_season
from agent_league.store.errors import StoreError
from agent_league.store.events import Event
from agent_league.store.record import Opening
from agent_league.store.store import RecordedEvent, Store
from agent_league.verification.audit import Audit
from agent_league.verification.problems import NotHeldError, require

_SUMS = ("stage", "players", "closed_rounds", "tally", "endings", "voided", "rows", "points")
"""What a snapshot has instead of the events before it."""


async def audit_store(store: Store, league_id: str, trusted: Collection[str] = ()) -> Audit:
    """Check a league in its store; raise `NotHeldError` for the first thing that does not hold."""
    audit = Audit(Opening(league_id, *await store.opening(league_id)), trusted)
    try:
        snapshot_seq, snapshot = await store.snapshot(league_id) or (0, "")
    except StoreError as error:
        raise NotHeldError("events", str(error)) from error
    async for recorded in store.record(league_id):
        event = audit.take(recorded.line, recorded.messages, recorded.body)
        _check_columns(recorded, event)
        if recorded.line.seq == snapshot_seq:
            _check_snapshot(audit.season, snapshot)
    return audit


def _check_columns(recorded: RecordedEvent, event: Event) -> None:
    right = (event.at, getattr(event, "match_id", None), event.once)
    require(recorded.columns == right, f"event {recorded.line.seq}", "its row is not its body")


def _check_snapshot(season: Season, body: str) -> None:
    try:
        if msgspec.json.decode(body, type=dict[str, Any])["version"] != VERSION:
            return  # it is not used
        kept = msgspec.json.decode(body, type=Snapshot)
    except (msgspec.DecodeError, KeyError) as error:
        raise NotHeldError("snapshot", f"it cannot be read: {error}") from error
    right = msgspec.json.decode(copy_season(season).encode(), type=Snapshot)
    for name in _SUMS:
        what = f"its {name} are not those of the events"
        require(getattr(kept, name) == getattr(right, name), "snapshot", what)


def check_files(events: list[Event], settings: LeagueSettings, root: Path) -> int:
    """Check the data files of a league against what its events give; return how many there are."""
    with TemporaryDirectory() as folder:
        export(events, Path(folder), settings)
        kept = _list_files(root, settings.league_id)
        right = _list_files(Path(folder), settings.league_id)
        for name in sorted(kept):
            known = right.get(name)
            is_right = known is not None and kept[name].read_bytes() == known.read_bytes()
            require(is_right, name, "this file is not what the events give")
        return len(kept)


def _list_files(root: Path, league_id: str) -> dict[str, Path]:
    layout = Layout(root)
    files = [layout.standings(league_id), layout.rounds(league_id)]
    files += sorted(layout.matches(league_id).glob("*.json"))
    return {str(file.relative_to(root)): file for file in files if file.exists()}
