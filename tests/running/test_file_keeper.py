"""The log of a league has every event, at the time when it happened."""

import asyncio
import json
from pathlib import Path
from typing import Any

from agent_league.running.file_keeper import EVENTS_TOGETHER, FileKeeper
from agent_league.running.folder import Folder
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AgentRecovered


def log_events(folder: Folder, count: int) -> list[dict[str, Any]]:
    """Log so many events, and return what the log has in the end."""

    async def main() -> list[dict[str, Any]]:
        async with folder.open_store():
            keeper = FileKeeper(LeagueSettings(seed="7", league_id="cup"), folder)
            for number in range(count):
                at = f"2025-01-15T10:00:00.{number:03}Z"
                keeper.log_event(AgentRecovered(at=at, agent_id=f"P{number}"))
            await keeper.finish()
            path = folder.shared / "logs" / "league" / "cup" / "league.log.jsonl"
            return [json.loads(line) for line in path.read_bytes().splitlines()]

    return asyncio.run(main())


def test_all_events_are_in_the_log_of_a_league_that_is_over(tmp_path: Path) -> None:
    entries = log_events(Folder(tmp_path), EVENTS_TOGETHER + 3)
    assert [entry["agent_id"] for entry in entries] == [f"P{n}" for n in range(len(entries))]
    assert len(entries) == EVENTS_TOGETHER + 3


def test_an_entry_has_the_time_of_its_event(tmp_path: Path) -> None:
    first, *_ = log_events(Folder(tmp_path), EVENTS_TOGETHER)
    assert first["timestamp"] == "2025-01-15T10:00:00.000Z"
    assert first["event_type"] == "agent_recovered"
    assert "at" not in first
