"""The MCP client against servers of both eras that follow a script."""

import asyncio
import base64
from typing import Any

import pytest

from agent_league.dialects.mcp.client import HANDSHAKE, McpClient
from agent_league.dialects.mcp.tools import MAX_TOOLS, Tool
from agent_league.dialects.mcp.transports import MODERN, HttpTransport, _header_value
from agent_league.http.client import HttpClient
from agent_league.http.exchange import HttpRequest, Response
from agent_league.protocol import ErrorCode
from agent_league.protocol.failures import LateError, NonsenseError, RefusedError
from mcp_peer import Asked, McpNetwork, McpPeer, RefusalError, ServedMcpPeer, even, structured, text
from timewarp import now, run

URL = "http://server/mcp"
ERAS = [
    pytest.param({"modern": True}, id="2026-07-28"),
    pytest.param({"sessions": True}, id="handshake with sessions"),
    pytest.param({"sessions": False}, id="handshake without sessions"),
]


def client_of(server: McpPeer) -> McpClient:
    network = McpNetwork()
    network.host_mcp(URL, server)
    return McpClient(HttpTransport(URL, network.exchange))


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_is_called_in_either_era(era: dict[str, Any]) -> None:
    server = McpPeer(**era)
    called = run(client_of(server).call_tool(Tool("choose_parity"), {"match_id": "R1M1"}, 5.0))
    assert called.answer == {"parity_choice": "even"}
    assert server.called("choose_parity") == [{"match_id": "R1M1"}]


def test_a_modern_server_is_asked_what_it_is_and_then_only_what_is_wanted() -> None:
    server = McpPeer(modern=True)
    client = client_of(server)

    async def twice() -> None:
        await client.call_tool(Tool("choose_parity"), {}, 5.0)
        await client.call_tool(Tool("choose_parity"), {}, 5.0)

    run(twice())
    assert server.methods() == ["server/discover", "tools/call", "tools/call"]
    assert client.version == MODERN


def test_the_handshake_is_made_once_and_its_session_shown_from_then_on() -> None:
    server = McpPeer()
    client = client_of(server)
    run(client.list_tools(5.0))
    discover, hello, done, listed = server.received
    assert [discover.method, hello.method] == ["server/discover", "initialize"]
    assert "mcp-protocol-version" not in hello.headers
    assert done.method == "notifications/initialized"
    for asked in (done, listed):
        assert asked.headers["mcp-session-id"] == "session-1"
        assert asked.headers["mcp-protocol-version"] == HANDSHAKE[0]


@pytest.mark.parametrize("version", HANDSHAKE)
def test_an_older_revision_is_spoken_if_the_server_wants_it(version: str) -> None:
    client = client_of(McpPeer(version=version))
    assert run(client.connect(5.0)) == version


def test_a_revision_that_nobody_knows_is_refused() -> None:
    with pytest.raises(NonsenseError, match="1999"):
        run(client_of(McpPeer(version="1999-01-01")).connect(5.0))


def test_a_session_that_has_gone_is_opened_again_and_the_call_made_once() -> None:
    server = McpPeer()
    client = client_of(server)

    async def forgotten() -> None:
        await client.call_tool(Tool("choose_parity"), {}, 5.0)
        server.forget_sessions()
        await client.call_tool(Tool("choose_parity"), {}, 5.0)

    run(forgotten())
    assert server.opened == 2
    assert server.methods().count("tools/call") == 3  # the second was refused, not done
    assert server.received[-1].headers["mcp-session-id"] == "session-2"


def test_many_calls_at_once_open_one_session() -> None:
    server = McpPeer()
    client = client_of(server)

    async def all_at_once() -> None:
        await asyncio.gather(*(client.call_tool(Tool("choose_parity"), {}, 5.0) for _ in range(20)))

    run(all_at_once())
    assert server.opened == 1


def test_a_late_answer_is_late_however_many_steps_it_takes() -> None:
    async def slowly(arguments: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(60)
        return even(arguments)

    async def asked() -> float:
        with pytest.raises(LateError):
            await client_of(McpPeer({"choose_parity": slowly})).call_tool(
                Tool("choose_parity"), {}, 5.0
            )
        return now()

    assert run(asked()) == 5.0


def test_those_who_wait_for_another_to_connect_wait_no_longer_than_they_may() -> None:
    class Sleeping(McpPeer):
        async def answer(self, parcel: Any) -> Any:
            await asyncio.sleep(3600)

    async def asked() -> float:
        client = client_of(Sleeping())
        first = asyncio.ensure_future(client.connect(50.0))
        await asyncio.sleep(0)
        with pytest.raises(LateError):
            await client.connect(2.0)
        at = now()
        first.cancel()
        return at

    assert run(asked()) == 2.0


def test_tools_come_page_by_page() -> None:
    names = [f"tool{number:03}" for number in range(50)]
    server = McpPeer(dict.fromkeys(names, even), page=7)
    assert list(run(client_of(server).list_tools(5.0)).tools) == names


@pytest.mark.parametrize("page", [20, 20_000])
def test_more_tools_than_anybody_needs_are_refused(page: int) -> None:
    server = McpPeer({f"tool{number}": even for number in range(10_000)}, page=page)
    with pytest.raises(NonsenseError):
        run(client_of(server).list_tools(5.0))
    assert server.methods().count("tools/list") <= MAX_TOOLS // 20 + 1


def test_the_mark_of_the_tools_does_not_depend_on_their_order() -> None:
    one, other = McpPeer({"a": even, "b": even}), McpPeer({"b": even, "a": even})
    third = McpPeer({"a": even, "b": even}, properties={"b": ["x"]})
    marks = [run(client_of(server).list_tools(5.0)).fingerprint for server in (one, other, third)]
    assert marks[0] == marks[1] != marks[2]


def test_an_error_of_the_protocol_is_a_refusal_and_one_of_a_tool_is_not() -> None:
    def refuses(arguments: dict[str, Any]) -> dict[str, Any]:
        raise RefusalError(200, -32602, "unknown tool")

    with pytest.raises(RefusedError, match="unknown tool"):
        run(client_of(McpPeer({"x": refuses})).call_tool(Tool("x"), {}, 5.0))
    wrong = McpPeer({"x": lambda arguments: text("I will not", error=True)})
    called = run(client_of(wrong).call_tool(Tool("x"), {}, 5.0))
    assert (called.isError, called.text) == (True, "I will not")


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        (structured({"parity_choice": "odd"}), {"parity_choice": "odd"}),
        (structured({"result": "odd"}), "odd"),
        (structured({"result": {"parity_choice": "odd"}}), {"parity_choice": "odd"}),
        (structured({"result": '{"result": "odd"}'}), "odd"),
        (text("odd"), "odd"),
        (text(" odd\n"), "odd"),
        (text('{"parity_choice": "odd"}'), {"parity_choice": "odd"}),
        (text("4"), 4),
        (text("true"), True),
        ({"content": []}, ""),
        ({"content": [{"type": "image", "data": "x"}]}, ""),
    ],
)
def test_what_a_tool_says_is_found_however_it_is_wrapped(result: Any, reply: Any) -> None:
    server = McpPeer({"x": lambda arguments: result})
    assert run(client_of(server).call_tool(Tool("x"), {}, 5.0)).answer == reply


@pytest.mark.parametrize(
    "result", [None, 7, [], {"content": "text"}, {"content": [7]}, {"isError": "yes"}]
)
def test_a_result_that_is_none_is_nonsense(result: Any) -> None:
    server = McpPeer({"x": lambda arguments: result})
    with pytest.raises(NonsenseError):
        run(client_of(server).call_tool(Tool("x"), {}, 5.0))


@pytest.mark.parametrize("listed", [7, {}, {"name": 7}, {"name": "x", "inputSchema": []}])
def test_a_list_of_what_is_no_tool_is_nonsense(listed: Any) -> None:
    class Odd(McpPeer):
        def listed(self, name: str) -> Any:
            return listed

    with pytest.raises(NonsenseError):
        run(client_of(Odd()).list_tools(5.0))


@pytest.mark.parametrize("era", ERAS)
def test_a_heartbeat_asks_what_each_era_knows(era: dict[str, Any]) -> None:
    server = McpPeer(**era)
    run(client_of(server).ping(5.0))
    assert server.methods()[-1] == ("server/discover" if server.modern else "ping")


@pytest.mark.parametrize("events", [False, True], ids=["JSON", "events"])
@pytest.mark.parametrize("era", ERAS)
def test_it_is_all_the_same_over_http(era: dict[str, Any], events: bool) -> None:
    server = McpPeer(**era)

    async def main() -> Any:
        wire = HttpClient()
        try:
            async with ServedMcpPeer(server, events=events) as served:
                client = McpClient(HttpTransport(served.url, wire.exchange))
                await client.call_tool(Tool("choose_parity"), {}, 5.0)
                server.forget_sessions()
                return (await client.call_tool(Tool("choose_parity"), {}, 5.0)).answer
        finally:
            await wire.close()

    assert asyncio.run(main()) == {"parity_choice": "even"}
    assert server.opened == (2 if server.sessions and not server.modern else 0)


@pytest.mark.parametrize(
    "name", ["tool", "two words", " edge", "ünïcode", "=?base64?eA==?=", "a\r\nb"]
)
def test_a_name_is_written_in_the_header_so_that_it_can_be_read_back(name: str) -> None:
    written = _header_value(name)
    assert written.isascii()
    assert written.isprintable()
    assert written == written.strip()
    decoded = written
    if written.startswith("=?base64?"):
        decoded = base64.b64decode(written[9:-2]).decode()
    assert decoded == name


@pytest.mark.parametrize(
    ("declared", "value", "headers"),
    [
        ({"type": "string", "x-mcp-header": "Match"}, "R1M1", {"mcp-param-match": "R1M1"}),
        (
            {"type": "string", "x-mcp-header": "Match"},
            "Zoë",
            {"mcp-param-match": "=?base64?Wm/Dqw==?="},
        ),
        ({"type": "boolean", "x-mcp-header": "Match"}, True, {"mcp-param-match": "true"}),
        ({"type": "integer", "x-mcp-header": "Match"}, 7, {"mcp-param-match": "7"}),
        ({"type": "string", "x-mcp-header": "Match"}, {"no": "scalar"}, {}),
        ({"type": "string"}, "R1M1", {}),
        ({"type": "number", "description": "no x-mcp-header here"}, 7, {}),
    ],
)
@pytest.mark.parametrize("modern", [True, False])
def test_arguments_are_shown_in_headers_where_a_modern_server_wants_them(
    declared: Any, value: Any, headers: dict[str, str], modern: bool
) -> None:
    class Wanting(McpPeer):
        def listed(self, name: str) -> dict[str, Any]:
            return {"name": name, "inputSchema": {"properties": {"match_id": declared}}}

    server = Wanting(modern=modern)

    async def main() -> None:
        client = client_of(server)
        (tool,) = (await client.list_tools(5.0)).tools.values()
        await client.call_tool(tool, {"match_id": value}, 5.0)

    run(main())
    sent = server.received[-1].headers
    shown = {name: sent[name] for name in sent if name.startswith("mcp-param-")}
    assert shown == (headers if modern else {})


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "string", "x-mcp-header": ""}},
        {"a": {"type": "string", "x-mcp-header": 7}},
        {"a": {"type": "string", "x-mcp-header": "two words"}},
        {"a": {"type": "string", "x-mcp-header": "a\r\nb"}},
        {"a": {"type": "string", "x-mcp-header": "ends\n"}},
        {"a": {"type": "object", "x-mcp-header": "A"}},
        {"a": {"type": "number", "x-mcp-header": "A"}},
        {"a": {"x-mcp-header": "A"}},
        {
            "a": {"type": "string", "x-mcp-header": "A"},
            "b": {"type": "string", "x-mcp-header": "a"},
        },
    ],
)
def test_a_tool_that_asks_for_a_header_that_cannot_be_sent_is_not_there(properties: Any) -> None:
    class Wanting(McpPeer):
        def listed(self, name: str) -> dict[str, Any]:
            return {"name": name, "inputSchema": {"properties": properties}}

    assert run(client_of(Wanting()).list_tools(5.0)).tools == {}


def test_a_server_that_refuses_a_revision_and_names_it_all_the_same_is_believed() -> None:
    class Fickle(McpPeer):
        def _check(self, asked: Asked) -> None:
            if asked.method == "server/discover":
                raise RefusalError(400, -32022, data={"supported": [MODERN]})

    assert run(client_of(Fickle(modern=True)).connect(5.0)) == MODERN


def test_a_server_that_wants_a_token_is_said_to_want_one() -> None:
    network, peer = McpNetwork(), McpPeer(token="t")
    network.host_mcp(URL, peer)

    async def main() -> None:
        with pytest.raises(NonsenseError, match="HTTP 401: it wants a token") as caught:
            await McpClient(HttpTransport(URL, network.exchange)).list_tools(5.0)
        assert caught.value.code is ErrorCode.AUTH_TOKEN_MISSING
        headers = {"authorization": "Bearer t"}
        client = McpClient(HttpTransport(URL, network.exchange, headers))
        assert (await client.list_tools(5.0)).tools

    run(main())


@pytest.mark.parametrize("status", [400, 404, 418])
def test_a_page_of_an_error_is_said_to_be_that(status: int) -> None:
    class Page(McpPeer):
        async def answer(self, parcel: HttpRequest) -> Response:
            return Response(status, b"<html>No</html>")

    network = McpNetwork()
    network.host_mcp(URL, Page())

    async def main() -> None:
        with pytest.raises(NonsenseError, match=f"HTTP {status}"):
            await McpClient(HttpTransport(URL, network.exchange)).list_tools(5.0)

    run(main())
