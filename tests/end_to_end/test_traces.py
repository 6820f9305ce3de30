"""One trace per match: told with every call where it is wanted, and computed from the record."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.traced import MOST_TRACES, TracedWire
from agent_league.protocol.tracing import make_trace_id
from agent_league.referee import Referee
from agent_league.season.season import Season
from agent_league.store.sqlite import SqliteStore
from agent_league.web.exchanges import read_exchanges
from agent_league.web.records import StoredRecords
from agent_league.web.spans import Span, list_spans
from cli.league_command import league as command
from end_to_end.http_league import HttpLeague
from free_ports import free_port
from web.played import add_player, play_league

MATCHES = {"R1M1", "R2M1", "R3M1"}


class Spy(HttpClient):
    """A client that remembers what was sent with headers of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[dict[str, Any], str]] = []

    def post_traced(
        self, url: str, body: bytes, within: float, traceparent: str
    ) -> Awaitable[Answer]:
        self.sent.append((json.loads(body)["params"], traceparent))
        return super().post_traced(url, body, within, traceparent)


def play_traced(path: Path) -> tuple[Spy, Season]:
    """Play a league of three over HTTP; return what was sent, and the season."""
    spy = Spy()

    async def main() -> Season:
        league = HttpLeague(awaited_players=3)
        league.store = SqliteStore(path)
        async with league:
            league.manager.peers.wire = TracedWire(spy)
            await league.join(
                lambda url: Referee(**league._referee(url, {}) | {"wire": TracedWire(spy)})
            )
            for name in ("Ada", "Bob", "Cem"):
                await add_player(league, name)
            await league.play()
        await league.store.close()
        await spy.close()
        return league.manager.season

    return spy, asyncio.run(main())


async def read_spans(path: Path, season: Season) -> list[Span]:
    store = SqliteStore(path)
    records = StoredRecords(store, season.settings.league_id)
    transcripts = await records.read_transcripts(list(season.results))
    await store.close()
    return [
        span
        for match_id, ended in season.results.items()
        for span in list_spans(
            season,
            season.assignments.get(match_id),
            ended,
            read_exchanges(transcripts[match_id], season.settings.patience),
        )
    ]


def test_every_call_of_a_match_names_the_same_trace(tmp_path: Path) -> None:
    spy, season = play_traced(tmp_path / "league.db")
    told: dict[str, set[str]] = defaultdict(set)
    for message, traceparent in spy.sent:
        version, trace_id, span_id, flags = traceparent.split("-")
        assert (version, len(trace_id), len(span_id), flags) == ("00", 32, 16, "01")
        if "match_id" in message:
            told[message["match_id"]].add(trace_id)
    assert set(told) == MATCHES
    league_id = season.settings.league_id
    assert told == {one: {make_trace_id(league_id, one)} for one in MATCHES}
    kinds = {message["message_type"] for message, _ in spy.sent}
    assert {"START_MATCH", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"} <= kinds
    assert {"MATCH_RESULT_REPORT", "ROUND_ANNOUNCEMENT"} <= kinds


def test_the_record_has_the_spans_that_players_were_told(tmp_path: Path) -> None:
    spy, season = play_traced(tmp_path / "league.db")
    to_players = {"GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"}
    told = {
        tuple(traceparent.split("-")[1:3])
        for message, traceparent in spy.sent
        if message["message_type"] in to_players
    }
    spans = asyncio.run(read_spans(tmp_path / "league.db", season))
    calls = [span for span in spans if span.parent_id is not None]
    assert {(span.trace_id, span.span_id) for span in calls} == told
    assert len(calls) == len(told) == 3 * 2 * 3
    roots = {span.span_id: span for span in spans if span.parent_id is None}
    for span in calls:
        root = roots[span.parent_id or ""]
        assert root.trace_id == span.trace_id
        assert root.began_ns <= span.began_ns <= span.ended_ns


def test_a_wire_counts_the_messages_of_so_many_matches_and_no_more() -> None:
    wire = TracedWire(HttpClient.__new__(Spy))
    message = {"message_type": "GAME_OVER", "league_id": "cup"}
    traces = {wire.trace("u", message | {"match_id": f"R1M{n}"}) for n in range(MOST_TRACES * 2)}
    assert len(traces) == MOST_TRACES * 2
    assert len(wire._counts) == MOST_TRACES
    again = {"message_type": "GAME_OVER", "league_id": "cup", "match_id": "R9M9"}
    assert wire.trace("u", again) != wire.trace("u", again), "a repeated message is another span"
    assert wire.trace("u", {"message_type": 7}) is None


class Taker(BaseHTTPRequestHandler):
    """A collector that keeps what it is sent."""

    taken: list[ExportTraceServiceRequest]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.taken.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def collecting() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    taken: list[ExportTraceServiceRequest] = []
    server = HTTPServer(("127.0.0.1", 0), type("OneTaker", (Taker,), {"taken": taken}))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    (tmp_path / "SHARED").mkdir()
    play_league(tmp_path / "SHARED" / "league.db", ("Ada", "Bob"))
    return tmp_path


def test_a_collector_gets_a_league_as_traces(kept: Path) -> None:
    with collecting() as (url, taken):
        done = command("traces", "--to", url, cwd=kept)
    assert done.returncode == 0
    assert "Sent 1 traces with 7 spans" in done.stderr
    found = [
        (span.name, span.trace_id.hex(), bool(span.parent_span_id))
        for request in taken
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    trace_id = make_trace_id("league_2025_even_odd", "R1M1")
    assert min(found) == ("choose_parity P01", trace_id, True)
    assert [name for name, _, has_parent in found if not has_parent] == ["match R1M1"]
    assert {one for _, one, _ in found} == {trace_id}


def test_without_a_collector_the_spans_are_printed(kept: Path) -> None:
    done = command("traces", cwd=kept)
    spans = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert next(one["name"] for one in spans) == "match R1M1"
    assert len(spans) == 7


def test_a_collector_that_is_not_there_is_named(kept: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    done = command("traces", "--to", url, cwd=kept)
    assert done.returncode == 4
    assert f"no collector listens at {url}" in done.stderr
    assert "hint: " in done.stderr
