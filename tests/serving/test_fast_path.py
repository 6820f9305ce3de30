"""A plain `tools/call` is answered as the SDK answers it, and what is not plain goes to the SDK."""

import asyncio
import inspect
import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_league.dialects.mcp.client import HANDSHAKE
from agent_league.http.memory import Network
from agent_league.http.server import HttpServer
from agent_league.player import Player, load_brain
from agent_league.protocol.rounds import RoundAnnouncement
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.serving.header_hints import MODERN, read_hints
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, player_meta, player_url
from protocol.samples import SAMPLES
from serving.callers import BOTH, META, Got, modern, sent, tool_call

CALL: dict[str, Json] = msgspec.to_builtins(SAMPLES["CHOOSE_PARITY_CALL"])
NOW = datetime(2025, 1, 15, 10, 30, tzinfo=UTC)
LEGACY = {"content-type": "application/json", "accept": BOTH, "mcp-protocol-version": "2025-11-25"}


def player() -> Player:
    meta = player_meta(player_url(1))
    brain = load_brain("always_even")
    made = Player("P01", Network(), LEAGUE_URL, meta=meta, brain=brain, seed="7", clock=lambda: NOW)
    announcement = SAMPLES["ROUND_ANNOUNCEMENT"]
    assert isinstance(announcement, RoundAnnouncement)
    made.on_announcement(announcement)
    return made


async def answered(*requests: tuple[bytes, dict[str, str]], method: str = "POST") -> list[Got]:
    """Return what a player answers to each of *requests*."""
    sock = bind(LOOPBACK, 0)
    url, agent = url_of(sock), player()
    server = await HttpServer.start(make_site(agent), sock)
    try:
        return [await sent(url, body, headers, method) for body, headers in requests]
    finally:
        await server.close(0.2)
        await agent.close()


def describe(got: Got) -> Any:
    return got.frame["result"]


def at_once(name: str, arguments: Json, headers: dict[str, str], meta: Json = None) -> Any:
    """Return what the short way answers, or None."""
    head = tuple((key.encode(), value.encode()) for key, value in headers.items())
    answer = make_site(player()).answer(tool_call(name, arguments, meta=meta), head)
    return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


@pytest.mark.parametrize(("headers", "meta"), [(LEGACY, None), (modern("choose_parity"), META)])
def test_the_method_of_a_call_may_stand_at_its_end(headers: dict[str, str], meta: Json) -> None:
    usual = tool_call("choose_parity", CALL, meta=meta)
    frame = json.loads(usual)
    body = json.dumps({"params": frame.pop("params"), **frame}).encode()
    assert body.index(b"tools/call") > 100
    first, second = asyncio.run(answered((usual, headers), (body, headers)))
    assert describe(first) == describe(second)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("choose_parity", CALL),
        ("choose_parity", {key: CALL[key] for key in ("match_id", "player_id", "game_type")}),
        ("choose_parity", {**CALL, "deadline": "2125-01-01T00:00:00Z", "surplus": [1]}),
        ("choose_parity", {**CALL, "message_type": "GAME_OVER"}),
        ("choose_parity", {}),
        ("notify_match_result", msgspec.to_builtins(SAMPLES["GAME_OVER"])),
        ("update_standings", {"round_id": 0}),
    ],
)
def test_the_short_way_answers_as_the_sdk_does(name: str, arguments: Json) -> None:
    slow = {**META, "progressToken": 1}
    plain = tool_call(name, arguments, meta=META), modern(name)
    unusual = tool_call(name, arguments, meta=slow), modern(name)
    assert at_once(name, arguments, modern(name), META) is not None
    assert at_once(name, arguments, modern(name), slow) is None
    short, long = asyncio.run(answered(plain, unusual))
    assert (short.status, describe(short)) == (long.status, describe(long))
    reply = json.loads(describe(short)["content"][0]["text"])
    assert describe(short).get("structuredContent") == (
        None if describe(short)["isError"] else reply
    )


@settings(max_examples=20)
@given(
    st.dictionaries(st.sampled_from(sorted(CALL)), st.none() | st.text(max_size=5) | st.booleans())
)
def test_whatever_is_wrong_with_a_message_both_ways_say_the_same(wrong: dict[str, Json]) -> None:
    arguments = {**CALL, **wrong}
    plain = tool_call("choose_parity", arguments, meta=META), modern("choose_parity")
    slow = {**META, "progressToken": 1}
    unusual = tool_call("choose_parity", arguments, meta=slow), modern("choose_parity")
    short, long = asyncio.run(answered(plain, unusual))
    assert describe(short) == describe(long)


def test_the_older_era_is_answered_without_a_session() -> None:
    (got,) = asyncio.run(answered((tool_call("choose_parity", CALL), LEGACY)))
    assert got.status == 200
    assert describe(got)["structuredContent"]["parity_choice"] == "even"
    assert "resultType" not in describe(got)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("origin", "http://127.0.0.1"),
        ("mcp-session-id", "1"),
        ("last-event-id", "1"),
        ("mcp-param-match-id", "R1M1"),
        ("accept", "text/event-stream"),
        ("mcp-protocol-version", "2024-11-05"),
        ("mcp-protocol-version", "2099-01-01"),
        ("mcp-name", "choose_move"),
        ("mcp-method", "tools/list"),
    ],
)
def test_unusual_headers_are_left_to_the_sdk(header: str, value: str) -> None:
    assert at_once("choose_parity", CALL, modern("choose_parity"), META) is not None
    unusual = {**modern("choose_parity"), header: value}
    assert at_once("choose_parity", CALL, unusual, META) is None


@pytest.mark.parametrize(
    "frame",
    [
        {"id": None},
        {"id": 1.5},
        {"jsonrpc": "1.0"},
        {"params": {"name": "choose_parity", "arguments": CALL}},
        {"params": {"name": "choose_parity", "arguments": CALL, "_meta": META, "requestState": ""}},
        {"params": {"name": "choose_parity", "arguments": CALL, "_meta": META, "task": {}}},
        {"params": {"name": "no_such_tool", "arguments": CALL, "_meta": META}},
    ],
)
def test_unusual_frames_are_left_to_the_sdk(frame: dict[str, Json]) -> None:
    usual = json.loads(tool_call("choose_parity", CALL, meta=META))
    head = tuple((k.encode(), v.encode()) for k, v in modern("choose_parity").items())
    site = make_site(player())
    assert site.answer(json.dumps(usual).encode(), head) is not None
    assert site.answer(json.dumps({**usual, **frame}).encode(), head) is None


def test_a_header_that_is_not_the_body_is_refused() -> None:
    wrong = tool_call("choose_parity", CALL, meta=META), modern("choose_move")
    (got,) = asyncio.run(answered(wrong))
    assert (got.status, got.frame["error"]["code"]) == (400, -32020)


def test_blanks_around_a_header_do_not_count() -> None:
    blank = {**modern("choose_parity"), "mcp-name": " choose_parity \t"}
    slow = {**META, "progressToken": 1}
    requests = [(tool_call("choose_parity", CALL, meta=meta), blank) for meta in (META, slow)]
    assert [got.status for got in asyncio.run(answered(*requests))] == [200, 200]


def test_the_revisions_are_those_of_the_sdk() -> None:
    from mcp_types.version import (  # noqa: PLC0415 - what is tested must not need it
        HANDSHAKE_PROTOCOL_VERSIONS,
        MODERN_PROTOCOL_VERSIONS,
    )

    assert set(HANDSHAKE_PROTOCOL_VERSIONS) == set(HANDSHAKE)
    assert tuple(MODERN_PROTOCOL_VERSIONS) == (MODERN,)


def test_the_same_headers_are_read_once() -> None:
    head = ((b"accept", b"application/json"), (b"authorization", b"bearer  abc "))
    assert read_hints(head) is read_hints((*head,))
    assert read_hints(head).token == "abc"


def test_the_headers_of_a_league_message_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_league.serving.site.read_hints", None)
    notice = msgspec.to_builtins(SAMPLES["GAME_OVER"])
    frame = {"jsonrpc": "2.0", "id": 1, "method": "notify_match_result", "params": notice}
    answer: Any = make_site(player()).answer(json.dumps(frame).encode(), ())
    assert json.loads(answer.body)["result"]["status"] == "ok"
