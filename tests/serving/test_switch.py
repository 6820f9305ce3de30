"""Whose a request is, and what reaches neither dialect."""

import asyncio
import json

import pytest
from mcp_types.methods import SPEC_CLIENT_METHODS

from agent_league.http.site import Headers
from agent_league.protocol import TOOLS
from agent_league.serving.header_hints import read_hints
from agent_league.serving.site import is_mcp, make_site
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from serving.callers import BOTH, META, begun, complaint_of, in_league, sent, spoken

NO_SIGNS: Headers = ((b"accept", b"*/*"),)
SIGNS: Headers = ((b"accept", BOTH.encode()),)
OWN = frozenset({"get_standings"})
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "without_signs", "with_signs"),
    [
        ({"method": "tools/list"}, True, True),
        ({"method": "initialize"}, True, True),
        ({"method": "ping"}, True, True),
        ({"method": "unknown"}, False, True),
        ({"method": "choose_parity"}, False, False),
        ({"method": "get_standings"}, False, False),
        ({"message_type": "LEAGUE_QUERY"}, False, False),
        ({"id": 1, "result": {}}, False, True),
        ({"params": {"method": "tools/list"}}, False, True),
        ([], False, True),
    ],
)
def test_the_method_decides_and_the_headers_where_it_cannot(
    body: object, *, without_signs: bool, with_signs: bool
) -> None:
    reply = json.dumps(body).encode()
    assert is_mcp(reply, read_hints(NO_SIGNS), OWN) is without_signs
    assert is_mcp(reply, read_hints(SIGNS), OWN) is with_signs


def test_no_method_of_mcp_is_a_tool_of_the_league() -> None:
    assert not set(SPEC_CLIENT_METHODS) & set(TOOLS)
    assert {method for method in SPEC_CLIENT_METHODS if "/" not in method} == {"initialize", "ping"}


@pytest.mark.parametrize("body", [b"{", b'{"jsonrpc":"2.0","method":"nope","id":1}', b'{"a":1}'])
def test_what_is_nobodys_is_answered_by_the_league_as_ever(body: bytes) -> None:
    async def script(league: HttpLeague) -> None:
        got = await sent(league.url, body, JSON)
        assert (got.status, "error" in got.frame) == (200, True)

    in_league(script)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"host": "localhost:1"}, 200),
        ({"host": "[::1]:1"}, 200),
        ({"origin": "http://evil.example"}, 403),
    ],
)
@pytest.mark.parametrize("accept", ["*/*", BOTH])
@pytest.mark.parametrize("method", ["get_standings", "server/discover"])
def test_a_web_page_reaches_neither_dialect(
    headers: dict[str, str], status: int, accept: str, method: str
) -> None:
    async def script(league: HttpLeague) -> None:
        reply = {**JSON, "accept": accept, **headers}
        if method == "server/discover":
            reply |= {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "accept": BOTH}
        got = await sent(league.url, framed(method, {"_meta": META}), reply)
        assert got.status == status

    in_league(script)


def test_a_member_answers_to_the_name_it_registered_by() -> None:
    async def script(league: HttpLeague) -> None:
        member = await league.add_player()
        url = member.meta.contact_endpoint
        site = make_site(member)
        assert site.names == {"127.0.0.1"}
        got = await sent(url, b"{}", {**JSON, "host": "elsewhere"})
        assert got.status == 421

    in_league(script)


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS"])
def test_other_methods_are_for_mcp_only(method: str) -> None:
    async def script(league: HttpLeague) -> None:
        plain = await sent(league.url, b"", {"accept": "*/*"}, method)
        assert (plain.status, plain.headers["allow"]) == (405, "post")
        signed = await sent(league.url, b"", {"accept": BOTH, "mcp-session-id": "x"}, method)
        assert signed.status in {400, 404, 405}
        assert signed.headers.get("allow") != "post"

    in_league(script)


def test_a_long_frame_is_taken_from_clients_of_mcp_only() -> None:
    async def script(league: HttpLeague) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "x" * 20_000}).encode()
        assert (await sent(league.url, body, JSON)).status == 413
        signed = {**JSON, "accept": BOTH}
        assert (await sent(league.url, body, signed)).status != 413
        league_method = body.replace(b'"ping"', b'"league_query"')
        assert (await sent(league.url, league_method, signed)).status == 413

    in_league(script)


@pytest.mark.parametrize("length", [9_000, 11_000])
def test_a_message_may_be_as_long_in_one_dialect_as_in_the_other(length: int) -> None:
    async def script(league: HttpLeague) -> None:
        entries = ["x" * length]
        given = {"match_id": "R1M1", "ticket": "t", "part": 1, "entries": entries}
        async with spoken(league.url, "auto") as client:
            result = await client.call_tool("report_transcript", given)
        code = complaint_of(result)["error_code"]
        assert code == ("E026" if length > 10_240 else "E011")

    in_league(script)


def test_closing_ends_the_streams_of_both_eras_without_waiting_for_them() -> None:
    async def script(league: HttpLeague) -> None:
        initialize = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        reply = {**JSON, "accept": BOTH}
        older = await sent(league.url, framed("initialize", initialize), reply)
        session = {**reply, "mcp-session-id": older.headers["mcp-session-id"]}
        watched = {"notifications": {"resourceSubscriptions": ["league://standings"]}}
        listen = framed("subscriptions/listen", {**watched, "_meta": META})
        modern = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
        streams = [
            await begun(league.url, b"", session, "GET"),
            await begun(league.url, listen, {**reply, **modern}),
        ]
        for reader, _ in streams:
            assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        closing = asyncio.ensure_future(league.servers[0].close(3600.0))
        for reader, writer in streams:
            while await reader.read(1000):
                pass
            writer.close()
        await closing

    in_league(script)


def framed(method: str, params: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


@pytest.mark.parametrize("accept", ["application/json", "*/*"])
@pytest.mark.parametrize("method", ["tools/list", "ping", "initialize"])
def test_a_client_that_reads_no_streams_gets_json_without_a_session(
    accept: str, method: str
) -> None:
    async def script(league: HttpLeague) -> None:
        client = {"name": "t", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        body = framed(method, params if method == "initialize" else {})
        got = await sent(league.url, body, {**JSON, "accept": accept})
        assert (got.status, got.headers["content-type"]) == (200, "application/json")
        assert "result" in got.frame

    in_league(script)


def test_a_message_is_taken_at_another_path_and_nothing_else_is() -> None:
    async def script(league: HttpLeague) -> None:
        base = league.url.removesuffix("/mcp")
        agent = {"name": "C1", "endpoint": "http://127.0.0.1:9/mcp"}
        got = await sent(f"{base}/register", json.dumps(agent).encode(), JSON)
        assert (got.status, got.frame["status"]) == (200, "registered")
        assert (await sent(f"{base}/fly", json.dumps(agent).encode(), JSON)).status == 200
        assert (await sent(f"{base}/fly", b"{}", JSON)).status == 404
        foreign = {**JSON, "origin": "http://evil.example"}
        assert (await sent(f"{base}/register", json.dumps(agent).encode(), foreign)).status == 403
        form = {"content-type": "text/plain"}
        assert (await sent(f"{base}/register", json.dumps(agent).encode(), form)).status == 415

    in_league(script)
