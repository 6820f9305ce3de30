"""What a check says of agents that speak in other ways: one true cause, and the rest judged."""

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from agent_league.check import CheckOptions, Mark, Report, run_check
from agent_league.check.sessions import player as player_session
from agent_league.check.sessions.roles import UnknownRoleError
from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.http.site import Site
from agent_league.protocol import Patience, Role
from agent_league.running.serve import LOOPBACK, bind, url_of
from check.crooked_manager import PlainManager
from check.crooked_player import PlainPlayer
from check.findings import Herald, finding_of, marked
from check.other_players import (
    OwnWordsPlayer,
    PostingPlayer,
    RequestPlayer,
    SamplePlayer,
    ToolPlayer,
    refuse,
)
from scripted import hosted
from timewarp import run_over_sockets

HASTY = Patience(join=1.5, move=1.5, game_over=1.5, generic=1.5)
Respond = Callable[[bytes], Awaitable[Answer]]


def report_on(agent: Respond | Site, role: Role | None = None, **options: Any) -> Report:
    async def main() -> Report:
        sock = bind(LOOPBACK, 0)
        site = agent if isinstance(agent, Site) else hosted(agent)
        server = await HttpServer.start(site, sock)
        try:
            order = CheckOptions(url_of(sock), role, games=3, patience=HASTY, **options)
            return await run_check(order, lambda doing: None)
        finally:
            await server.close(0.1)

    return run_over_sockets(main())


def test_the_sample_player_of_the_documents_breaks_only_what_their_text_contradicts() -> None:
    report = report_on(SamplePlayer())
    assert report.role is Role.PLAYER
    assert marked(report, Mark.BROKEN) == [
        "frame.missing-field",  # 003 10.5: a missing field is an error
        "player.notice.round-announcement",  # 001 names a method for it that the sample has not
        "player.notice.league-standings-update",
        "player.repeat.move",  # 000: message replay
    ]
    assert "player.notice.league-error" in marked(report, Mark.ADVICE)
    assert "player.unknown-game" in marked(report, Mark.ADVICE)


def test_a_player_with_tools_of_its_own_is_blamed_once_for_that_and_played_with() -> None:
    report = report_on(ToolPlayer())
    assert report.role is Role.PLAYER
    problem = finding_of(report, "frame.tool-name")
    assert problem.mark is Mark.BROKEN
    assert "tools/call" in problem.why
    assert finding_of(report, "player.join-ack.message-type").mark is Mark.BROKEN
    assert finding_of(report, "player.move.message-type").mark is Mark.KEPT
    assert finding_of(report, "player.notice.league-standings-update").mark is Mark.KEPT


def test_fields_under_other_names_are_named() -> None:
    report = report_on(OwnWordsPlayer())
    assert report.role is Role.PLAYER
    assert "'accepted' instead" in finding_of(report, "player.join-ack.accept").why
    assert "'choice' instead" in finding_of(report, "player.move.parity-choice").why
    assert finding_of(report, "player.unknown-game").mark is Mark.ADVICE
    assert "do not name the match" in finding_of(report, "player.concurrent-games").why


def test_a_reply_in_params_is_read_there_and_blamed_on_the_frame_alone() -> None:
    report = report_on(RequestPlayer())
    assert report.role is Role.PLAYER
    assert "in params" in finding_of(report, "frame.jsonrpc").why
    assert finding_of(report, "player.join-ack.message-type").mark is Mark.KEPT
    assert finding_of(report, "frame.broken-json").mark is Mark.KEPT
    assert finding_of(report, "frame.unknown-method").mark is Mark.KEPT


def test_a_player_that_posts_its_replies_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    with bind(LOOPBACK, 0) as sock:
        port = sock.getsockname()[1]
    monkeypatch.setattr(player_session, "REFEREE_PORT", port)
    report = report_on(PostingPlayer(f"http://127.0.0.1:{port}/mcp"), Role.PLAYER)
    assert "a request of its own" in finding_of(report, "player.join-ack.message-type").why
    assert finding_of(report, "player.move.parity-choice").mark is Mark.KEPT


def test_a_player_that_refuses_everything_keeps_no_rule_about_playing() -> None:
    async def refuse_all(body: bytes) -> Answer:
        return refuse(1, -32602, "Sender not registered", 400)

    report = report_on(refuse_all, Role.PLAYER)
    kept = marked(report, Mark.KEPT)
    assert not [rule for rule in kept if rule.startswith("player.")]
    assert "frame.missing-field" not in kept
    assert "frame.tool-name" not in kept


@pytest.mark.parametrize(
    "reply",
    [
        {"status": "error", "message": "nothing"},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "no"}},
        {"jsonrpc": "2.0", "id": 1, "result": {"error": "Unknown method"}},
    ],
)
def test_an_agent_that_refuses_everything_alike_has_no_role(reply: dict[str, Any]) -> None:
    async def refuse_all(body: bytes) -> Answer:
        return Answer(200, json.dumps(reply).encode())

    with pytest.raises(UnknownRoleError):
        report_on(refuse_all)


def test_a_league_whose_page_says_what_it_is_gets_no_registration() -> None:
    bodies: list[bytes] = []

    async def accept_registrations(body: bytes) -> Answer:
        bodies.append(body)
        accepted = {"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED"}
        unknown = {"status": "error", "message": "Unknown message type"}
        return Answer(200, json.dumps(accepted if b"_REGISTER_" in body else unknown).encode())

    site = dataclasses.replace(
        hosted(accept_registrations),
        find_page=lambda path: {"agent": "League Manager"} if path == "/health" else None,
    )
    assert report_on(site).role is Role.LEAGUE
    assert not [body for body in bodies if b"_REGISTER_" in body]


def test_an_answer_of_404_in_a_frame_is_an_answer() -> None:
    class Web(PlainManager):
        async def __call__(self, body: bytes) -> Answer:
            answer = await super().__call__(body)
            return replace(answer, status=404) if b'"error"' in answer.body else answer

    report = report_on(Web())
    assert report.role is Role.LEAGUE
    assert finding_of(report, "manager.token.missing").mark is Mark.KEPT


def test_where_nothing_is_served_one_rule_is_broken_and_no_other_is_judged() -> None:
    async def answer(body: bytes) -> Answer:
        return Answer(404, b'{"detail":"Not Found"}')

    report = report_on(answer, Role.LEAGUE, players=2)
    assert marked(report, Mark.BROKEN) == ["http.json"]
    assert marked(report, Mark.KEPT) == []
    assert "nothing serves POST" in finding_of(report, "http.json").why


@pytest.mark.parametrize(
    ("path", "meta"),
    [
        ("/register", {"display_name": "Own", "endpoint": "http://127.0.0.1:1/mcp"}),
        ("/mcp", {"player_meta": {"display_name": "Own", "version": "1.0.0"}}),
    ],
)
def test_a_registration_in_another_form_is_one_fault(path: str, meta: dict[str, Any]) -> None:
    async def main() -> Report:
        sock, herald, wire = bind(LOOPBACK, 0), Herald(), HttpClient()
        server = await HttpServer.start(hosted(PlainPlayer()), sock)
        order = CheckOptions(url_of(sock), games=1, patience=HASTY, league_port=0)
        check = asyncio.ensure_future(run_check(order, herald))
        params = {"name": "register_player", "arguments": meta}
        call = {"jsonrpc": "2.0", "method": "tools/call", "params": params, "id": 1}
        body = json.dumps(meta if path == "/register" else call).encode()
        try:
            league = (await herald.league).removesuffix("/mcp")
            answer = await wire.post(league + path, body, 2.0)
            assert b"ACCEPTED" in answer.body
            return await check
        finally:
            await server.close(0.1)
            await wire.close()

    report = run_over_sockets(main())
    finding = finding_of(report, "register.message")
    assert finding.mark is Mark.BROKEN
    assert finding.proof is not None
    assert finding.proof.url.endswith(path)
