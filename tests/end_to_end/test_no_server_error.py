"""Whatever bytes arrive, no agent answers with a server error, and every request gets an answer."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_league.protocol import MESSAGES, TOOLS
from end_to_end.http_league import HttpLeague
from protocol.samples import SAMPLES
from serving.callers import BOTH, META, sent

ANSWER_LIMIT = 30.0
OWN_TOOLS = ("join_league", "wait_for_turn", "make_move", "play_in_person", "get_standings")
ORDERS = ("create_schedule", "start_league", "pause_league", "void_match", "register_to_league")
SESSION = "$SESSION"
"""Stands for the id of a session with the manager that is open."""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}
MCP_METHODS = [
    *("initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read"),
    *("resources/templates/list", "resources/subscribe", "prompts/list", "prompts/get"),
    *("completion/complete", "server/discover", "subscriptions/listen", "logging/setLevel"),
    *("notifications/initialized", "notifications/cancelled", "tasks/get", "x/y"),
]
NAMES = [*TOOLS, *OWN_TOOLS, *ORDERS]
FIELDS = [
    *("name", "arguments", "_meta", "uri", "ref", "argument", "cursor", "auth_token", "player_id"),
    *("match_id", "display_name", "max_wait_sec", "turn_id", "move", "message_type", "query_type"),
    *("query_params", "player_meta", "contact_endpoint", "protocolVersion", "capabilities"),
    *("clientInfo", "requestState", "inputResponses", "round_id", "paused", "reason", "sender"),
]
HEADERS = {
    "accept": [BOTH, "text/event-stream", "application/json", "*/*", "", "nonsense"],
    "content-type": ["application/json", "application/json; charset=latin-1", "", "text/plain"],
    "mcp-protocol-version": ["2026-07-28", "2025-11-25", "2024-11-05", "9999-01-01", "", "\xff"],
    "mcp-session-id": [SESSION, SESSION, "1", "", "\xff", "x" * 300],
    "last-event-id": ["1", "\xff"],
    "mcp-method": [*MCP_METHODS, "", "\xff"],
    "mcp-name": [*NAMES, "", "=?base64?!!?=", "\xff"],
    "authorization": ["Bearer x", "Bearer \xff", "Basic x", "Bearer"],
    "mcp-param-x": ["1"],
    "origin": ["http://127.0.0.1", "\xff"],
    "host": ["127.0.0.1", "\xff", "[::1", ""],
}
PATHS = ["/mcp", "/", "/status", "/standings", "/players/P01", "/schemas/x", "/guests/x/mcp"]
ODD_PATHS = ["/%ff", "/%00", "//", "/players/%2e%2e", "/mcp?x=%ff", "*", "http://[/"]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from([*NAMES, *MESSAGES, "league://standings", "P01", "R1M1", "even", "2.0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(FIELDS), values, max_size=5)


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """Return a frame that is nearly right: a call of something that exists, with odd parts."""
    method = draw(st.sampled_from([*MCP_METHODS, *NAMES, *MESSAGES]))
    params = draw(objects)
    if draw(st.booleans()):
        sample = draw(st.sampled_from(sorted(SAMPLES)))
        params = {**json.loads(encode_sample(sample)), **params}
    if method == "tools/call":
        arguments = draw(objects | values)
        params = {"name": draw(st.sampled_from(NAMES)), "arguments": arguments, **params}
    if draw(st.booleans()):
        params["_meta"] = {**META, **draw(objects)} if draw(st.booleans()) else META
    frame = {"jsonrpc": "2.0", "id": draw(values), "method": method, "params": params}
    for key in draw(st.sets(st.sampled_from(["jsonrpc", "id", "params", "method"]), max_size=1)):
        del frame[key]
    return encode(frame if draw(st.integers(0, 3)) else params)


def encode_sample(name: str) -> bytes:
    return msgspec.json.encode(SAMPLES[name])


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    body = draw(frames() | values.map(encode) | st.binary(max_size=40))
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(body)))
        spliced = draw(st.sampled_from([b"\xff", b"\xc3", b'\\ud800"', b"\x00", b"[" * 2000, b'"']))
        body = body[:at] + spliced + body[at:]
    return body


headers = st.dictionaries(st.sampled_from(sorted(HEADERS)), st.integers(0, 99), max_size=5).map(
    lambda chosen: {key: HEADERS[key][n % len(HEADERS[key])] for key, n in chosen.items()}
)


class Served:
    """A league whose manager, referee and player can be sent anything."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.league = HttpLeague()
        self.runner.run(self._open())

    async def _open(self) -> None:
        await self.league.__aenter__()
        members: Any = [await self.league.add_referee(), await self.league.add_player()]
        urls = [self.league.url, *(one.meta.contact_endpoint for one in members)]
        self.ports = [int(url.rpartition(":")[2].partition("/")[0]) for url in urls]
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        named = {"content-type": "application/json", "accept": BOTH}
        opened = await sent(self.league.url, encode(hello), named)
        self.session = opened.headers["mcp-session-id"].encode()

    def close(self) -> None:
        self.runner.run(self.league.__aexit__())
        self.runner.close()

    def send(self, agent: int, data: bytes) -> int:
        """Return the status of the answer to *data*."""
        data = data.replace(SESSION.encode(), self.session)
        return self.runner.run(self._send(self.ports[agent], data))

    def ask(self, agent: int, data: bytes) -> Any:
        """Return the JSON that *data* is answered with."""
        return json.loads(self.runner.run(self._read_body(self.ports[agent], data)))

    async def _send(self, port: int, data: bytes) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            async with asyncio.timeout(ANSWER_LIMIT):
                writer.write(data)
                line = await reader.readline()
            return int(line.split()[1])
        finally:
            writer.close()

    async def _read_body(self, port: int, data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            async with asyncio.timeout(ANSWER_LIMIT):
                writer.write(data)
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
                return await reader.readexactly(int(length))
        finally:
            writer.close()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.close()


def request(method: str, path: str, named: dict[str, str], body: bytes) -> bytes:
    lines = {"host": "127.0.0.1", "content-type": "application/json", **named}
    head = [f"{method} {path} HTTP/1.1", *(f"{key}: {value}" for key, value in lines.items())]
    return "\r\n".join([*head, f"content-length: {len(body)}", "", ""]).encode("latin-1") + body


def league_call(tool: str, argument: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"%b","params":{"a":%b}}' % (tool.encode(), argument)


@given(
    agent=st.integers(0, 2),
    method=st.sampled_from(["POST"] * 8 + ["GET", "GET", "HEAD", "PUT"]),
    path=st.sampled_from(PATHS[:1] * 8 + PATHS + ODD_PATHS),
    named=headers,
    body=bodies(),
)
@example(0, "POST", "/mcp", {}, league_call("get_standings", b'"\xff"'))
@example(0, "POST", "/mcp", {}, league_call("join_league", b'"\\ud800"'))
@example(0, "POST", "/mcp", {}, league_call("join_league", b"[" * 5000))
@example(1, "POST", "/mcp", {}, league_call("register_to_league", b'"\xff"'))
@example(0, "GET", "/mcp", {"accept": BOTH, "last-event-id": "1", "mcp-session-id": SESSION}, b"")
@example(0, "POST", "/mcp", {"accept": "text/event-stream"}, b"")
def test_no_request_makes_a_server_error(
    served: Served, agent: int, method: str, path: str, named: dict[str, str], body: bytes
) -> None:
    assert served.send(agent, request(method, path, named, body)) < 500


@given(agent=st.integers(0, 2), data=st.binary(min_size=1, max_size=200))
def test_no_bytes_make_a_server_error(served: Served, agent: int, data: bytes) -> None:
    assert served.send(agent, data + b"\r\n\r\n\r\n") < 500
