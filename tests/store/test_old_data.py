"""What an older version wrote is read by this one."""

import asyncio
import json
import shutil
from pathlib import Path
from types import MappingProxyType

import pytest

from agent_league.store import StoreError
from agent_league.store.codec import KINDS, UPGRADES, decode_row
from agent_league.store.events import (
    AgentDisqualified,
    AgentRecovered,
    AgentReinstated,
    AnnouncementMade,
    EndOrdered,
    LeagueContinued,
    LeaguePaused,
    ManualPlayChosen,
    MatchAdded,
    MatchVoided,
    OrganiserAppointed,
    RegistrationSet,
    ReportContested,
    ReportHeld,
    TokenExtended,
    TokenReplaced,
    ViolationNoted,
)
from agent_league.store.log import StoredEvent
from agent_league.vocabulary import Json
from store.books import events, opened, writing
from store.samples import LEAGUE, OPENED_AT, SETTINGS, STORED, TRANSCRIPT

GOLDEN = Path(__file__).parent / "golden"
LATER = (
    OrganiserAppointed,
    LeaguePaused,
    LeagueContinued,
    MatchVoided,
    ViolationNoted,
    AgentDisqualified,
    TokenExtended,
    ManualPlayChosen,
    AgentReinstated,
    TokenReplaced,
    MatchAdded,
    AnnouncementMade,
    ReportContested,
    ReportHeld,
    RegistrationSet,
    EndOrdered,
)
"""Kinds of event that the older version did not have."""
OLDER = (kept.event for kept in STORED if not isinstance(kept.event, LATER))
WRITTEN = [StoredEvent(seq, event) for seq, event in enumerate(OLDER, 1)]


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.db")))
def test_a_store_of_an_older_version_opens(tmp_path: Path, name: str) -> None:
    async def scenario() -> None:
        async with opened(str(tmp_path / name)) as store:
            assert await events(store) == WRITTEN
            (league,) = await store.leagues()
            assert league == (LEAGUE, OPENED_AT, SETTINGS, 6, 1)
            assert json.loads(await store.transcript(LEAGUE, "R3M2") or "") == list(TRANSCRIPT)

    shutil.copy(GOLDEN / name, tmp_path)
    asyncio.run(scenario())


def test_a_league_of_an_older_version_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with writing(str(tmp_path / "v1.db")) as (_, sink):
            await sink.keep()

    shutil.copy(GOLDEN / "v1.db", tmp_path)
    asyncio.run(scenario())


def test_every_older_version_of_an_event_has_an_upgrade() -> None:
    needed = {(kind, v) for kind, declared in KINDS.items() for v in range(1, declared.schema)}
    assert set(UPGRADES) == needed


def _renamed(body: dict[str, Json]) -> dict[str, Json]:
    return {**{key: body[key] for key in body if key != "who"}, "agent": body["who"]}


def _renamed_again(body: dict[str, Json]) -> dict[str, Json]:
    return {**{key: body[key] for key in body if key != "agent"}, "agent_id": body["agent"]}


def test_an_event_of_an_older_version_is_upgraded_step_by_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = {("agent_recovered", 1): _renamed, ("agent_recovered", 2): _renamed_again}
    monkeypatch.setattr("agent_league.store.codec.UPGRADES", MappingProxyType(steps))
    monkeypatch.setattr(AgentRecovered, "schema", 3)
    expected = StoredEvent(7, AgentRecovered(at=OPENED_AT, agent_id="P01"))
    for version, key in enumerate(("who", "agent", "agent_id"), 1):
        body = json.dumps({"event": "agent_recovered", "at": OPENED_AT, key: "P01"})
        assert decode_row(7, "agent_recovered", version, body) == expected


def test_an_event_without_its_upgrade_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AgentRecovered, "schema", 2)
    with pytest.raises(StoreError, match=r"event 7 \(agent_recovered, version 1\)"):
        decode_row(7, "agent_recovered", 1, "{}")


@pytest.mark.parametrize(("kind", "version"), [("agent_recovered", 2), ("agent_adopted", 1)])
def test_an_event_of_a_newer_version_is_refused(kind: str, version: int) -> None:
    with pytest.raises(StoreError, match="is from a newer agent-league"):
        decode_row(7, kind, version, "{}")
