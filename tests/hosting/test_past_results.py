"""A league with many results forgets those of past rounds; whoever asks gets them from the store."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from agent_league.hosting.directory import HostedLeague
from agent_league.http.exchange import Answer, PageRequest
from agent_league.http.memory import Network
from agent_league.league import stored_season
from agent_league.running.folder import Folder
from agent_league.store.events import ReportContested
from agent_league.verification.stored import audit_store, check_files
from hosting.server_box import STAFF, ServerBox, open_server

PLAYERS, LEGS, IN_A_ROUND = 6, 2, 3
MATCHES = PLAYERS * (PLAYERS - 1) // 2 * LEGS
LIMIT = 2 * IN_A_ROUND
LEAGUE, PAST = "long", "R1M1"
SWAPPED = {"even": "odd", "odd": "even"}


class Recorder(Network):
    """A network that keeps the reports of the referees."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: dict[str, tuple[str, bytes]] = {}

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        if b'"MATCH_RESULT_REPORT"' in body:
            self.reports.setdefault(json.loads(body)["params"]["match_id"], (url, body))
        return await super().post(url, body, within)


async def open_page(hosted: HostedLeague, path: str) -> Any:
    """Return what a program gets at a page of a league that is run."""
    answer: Any = hosted.league.live_site.show(PageRequest(path))
    return json.loads((await answer).body)


async def play_half(box: ServerBox) -> HostedLeague:
    """Return a league that has forgotten its first rounds, and is paused."""
    await box.create(LEAGUE, awaited_players=PLAYERS, legs=LEGS)
    await box.fill(LEAGUE, PLAYERS)
    await box.wait_for_matches(LEAGUE, MATCHES // 2)
    await box.call("pause_league", league_id=LEAGUE, auth_token=STAFF)
    hosted = box.server.directory.get(LEAGUE)
    assert hosted is not None
    return hosted


def check_season(hosted: HostedLeague) -> None:
    """Assert that few results are in memory, and that the table counts them all."""
    season = hosted.league.season
    assert season.played >= MATCHES // 2
    assert len(season.results) <= LIMIT + IN_A_ROUND
    assert PAST not in season.results
    assert sum(row.played for row in season.standings()) == 2 * season.played
    result = season.find_result(PAST)
    assert result is not None


async def check_pages(hosted: HostedLeague) -> None:
    """Assert that the page of a past match has its result and its messages."""
    page = await open_page(hosted, f"/matches/{PAST}.json")
    result = hosted.league.season.find_result(PAST)
    assert result is not None
    assert (page["status"], page["winner"]) == (result.status, result.winner)
    assert page["details"]["drawn_number"]
    assert len(page["messages"]) >= 8


async def check_resources(hosted: HostedLeague) -> None:
    """Assert that MCP clients read the record and the messages of a past match."""
    resources = {one.uri: one.read for one in hosted.offer.resources}
    record: Any = await cast(Any, resources["league://matches/{match_id}"](match_id=PAST))
    assert record["match_id"] == PAST
    assert record["details"]["drawn_number"]
    read = resources["league://matches/{match_id}/transcript"]
    assert await cast(Any, read(match_id=PAST))
    explain = next(one for one in hosted.offer.prompts if one.name == "explain_match")
    assert PAST in await cast(Any, explain.write({"match_id": PAST}))


async def check_reports(net: Recorder) -> None:
    """Assert that a referee that reports a past match again is told what becomes of its report."""
    url, body = net.reports[PAST]
    again = json.loads((await net.post(url, body, 10.0)).body)["result"]
    assert (again["match_id"], again["note"]) == (PAST, "already known")
    frame = json.loads(body)
    details = frame["params"]["result"]["details"]
    details["choices"] = {who: SWAPPED[choice] for who, choice in details["choices"].items()}
    other = json.loads((await net.post(url, json.dumps(frame).encode(), 10.0)).body)["result"]
    assert "kept as evidence" in other["note"]
    frame["params"]["game_type"] = "openspiel:chess"  # a game that this league does not play
    foreign = json.loads((await net.post(url, json.dumps(frame).encode(), 10.0)).body)["result"]
    assert "kept as evidence" in foreign["note"]


async def check_past_match(hosted: HostedLeague, net: Recorder) -> None:
    """Assert that whoever asks for a past match, or reports it again, is answered."""
    await check_pages(hosted)
    await check_resources(hosted)
    await check_reports(net)


async def play_the_rest(box: ServerBox) -> None:
    await box.call("resume_league", league_id=LEAGUE, auth_token=STAFF)
    await box.wait_until_over(LEAGUE)


@pytest.fixture(autouse=True)
def _forget_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_season, "MOST_IN_MEMORY", LIMIT)


def test_results_that_were_forgotten_are_answered_from_the_store(tmp_path: Path) -> None:
    async def main() -> None:
        net = Recorder()
        async with open_server(tmp_path, net) as box:
            hosted = await play_half(box)
            check_season(hosted)
            await check_past_match(hosted, net)
            await play_the_rest(box)

    asyncio.run(main())
    check_record(tmp_path)


def test_a_league_that_forgot_results_goes_on_after_a_restart(tmp_path: Path) -> None:
    async def main() -> None:
        net = Recorder()
        async with open_server(tmp_path, net) as box:
            await play_half(box)
        async with open_server(tmp_path, net) as box:
            hosted = box.server.directory.get(LEAGUE)
            assert hosted is not None
            await check_past_match(hosted, net)
            await play_the_rest(box)

    asyncio.run(main())
    check_record(tmp_path)


def check_record(folder: Path) -> None:
    """Assert that the record has every result once, and that it and the files can be verified."""

    async def read() -> None:
        async with Folder(folder).read_store() as store:
            audit = await audit_store(store, LEAGUE)
            events = [one.event async for page in store.events(LEAGUE) for one in page]
        assert audit.is_over
        assert audit.season.played == MATCHES
        assert [one.match_id for one in events if isinstance(one, ReportContested)] == [PAST]
        assert check_files(events, audit.season.settings, folder) >= 1

    asyncio.run(read())
