"""What a plain MCP `tools/call` costs a server, beside the same call in the league's dialect.

Both are measured in turn, in one process, in blocks so short that a busy machine spoils a block
and not the comparison.
"""

import argparse
import asyncio
import multiprocessing
import socket
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection

import msgspec

from agent_league.http.client import HttpClient
from agent_league.http.server import HttpServer
from agent_league.player import Player, load_brain
from agent_league.protocol import tokens
from agent_league.protocol.registration import PlayerMeta
from agent_league.running.event_loop import run
from agent_league.running.serve import LOOPBACK, bind
from agent_league.serving.header_hints import MODERN
from agent_league.serving.site import make_site
from agent_league.store.agent_files import Identity
from agent_league.vocabulary import Json

CALLS = 400
"""How many calls a block has, one after the other on one connection."""

TOKEN = "tok_bench"
"""What the player and its league share: with it the league has signed the match."""

MESSAGE: Mapping[str, Json] = {
    "message_type": "CHOOSE_PARITY_CALL",
    "protocol": "league.v2",
    "sender": "referee:REF01",
    "timestamp": "2025-01-15T10:30:00Z",
    "conversation_id": "conv-r1m1-001",
    "auth_token": tokens.sign_for_any([tokens.hash_token(TOKEN)], "R1M1", "conv-r1m1-001", "P01"),
    "league_id": "league_2025_even_odd",
    "round_id": 1,
    "match_id": "R1M1",
    "player_id": "P01",
    "game_type": "even_odd",
    "deadline": "2125-01-15T10:30:30Z",
    "context": {"opponent_id": "P02", "round_id": 1},
}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
}
ACCEPT = {"accept": "application/json, text/event-stream"}
CALLED = {"name": "choose_parity", "arguments": MESSAGE}


def request(method: str, params: Json, headers: Mapping[str, str]) -> bytes:
    frame = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
    body = msgspec.json.encode(frame)
    all_headers = {"host": "localhost", "content-type": "application/json", **headers}
    lines = [f"{name}: {value}" for name, value in all_headers.items()]
    head = "\r\n".join(["POST /mcp HTTP/1.1", *lines, f"content-length: {len(body)}", "", ""])
    return head.encode() + body


MODERN_HEADERS = {
    "mcp-protocol-version": MODERN,
    "mcp-method": "tools/call",
    "mcp-name": "choose_parity",
}
REQUESTS = {
    "league": request("choose_parity", MESSAGE, {}),
    "MCP 2026-07-28": request("tools/call", {**CALLED, "_meta": META}, ACCEPT | MODERN_HEADERS),
    "MCP 2025-11-25": request(
        "tools/call", CALLED, ACCEPT | {"mcp-protocol-version": "2025-11-25"}
    ),
}


def serve(ready: Connection) -> None:
    """Be a player that tells how much CPU it has used."""
    run(_serve(ready))


async def _serve(ready: Connection) -> None:
    meta = PlayerMeta(
        display_name="Bench",
        version="1.0.0",
        game_types=["even_odd"],
        contact_endpoint="http://localhost/mcp",
    )
    brain, wire = load_brain("always_even"), HttpClient()
    player = Player("P01", wire, "http://localhost:9/mcp", meta=meta, brain=brain, seed="7")
    player.resume(Identity("P01", TOKEN))
    site = replace(make_site(player), find_page=lambda path: time.process_time())
    sock = bind(LOOPBACK, 0)
    port = sock.getsockname()[1]
    server = await HttpServer.start(site, sock)
    ready.send(port)
    with suppress(EOFError):
        await asyncio.to_thread(ready.recv)
    await server.close()
    await wire.close()


class Caller:
    """One connection, on which one call follows the other."""

    def __init__(self, port: int) -> None:
        self._sock = socket.create_connection((LOOPBACK, port))
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, data: bytes) -> bytes:
        self._sock.sendall(data)
        got = self._sock.recv(1 << 16)
        head, _, body = got.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        while len(body) < length:
            body += self._sock.recv(1 << 16)
        return body

    def spent(self) -> float:
        return float(self.call(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"))


def block(caller: Caller, meter: Caller, data: bytes) -> float:
    """Return the seconds of CPU that the server spends on one call."""
    caller.call(data)
    before = meter.spent()
    for _ in range(CALLS):
        caller.call(data)
    return (meter.spent() - before) / CALLS


def measured(rounds: int) -> dict[str, list[float]]:
    """Return what each kind of call costs, in each round, on connections of their own."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    process.start()
    theirs.close()
    port = ours.recv()
    meter, callers = Caller(port), {kind: Caller(port) for kind in REQUESTS}
    for kind, caller in callers.items():
        if b"parity_choice" not in caller.call(REQUESTS[kind]):
            raise SystemExit(f"{kind}: {caller.call(REQUESTS[kind])!r}")
    costs: dict[str, list[float]] = {kind: [] for kind in REQUESTS}
    for _ in range(rounds):
        for kind, caller in callers.items():
            costs[kind].append(block(caller, meter, REQUESTS[kind]))
    ours.close()
    process.join(10)
    return costs


def find_ratio(spent: Sequence[float], on_league: Sequence[float]) -> float:
    """Return how many times as much as a call in the league's dialect a call costs."""
    return statistics.median(mine / ours for mine, ours in zip(spent, on_league, strict=True))


def main() -> int:
    """Measure and print; 1 when a call over MCP costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--bar", type=float, default=1.2, help="times the league's own dialect")
    options = parser.parse_args()
    costs = measured(options.rounds)
    least = {kind: min(spent) for kind, spent in costs.items()}
    ratios = {}
    for kind, spent in costs.items():
        ratios[kind] = find_ratio(spent, costs["league"])
        print(
            f"{kind:15} tools/call: {1e6 * statistics.median(spent):5.1f} us of server CPU "
            f"(best {1e6 * least[kind]:.1f}), {ratios[kind]:.2f} x the league's dialect"
        )
    return int(max(ratios.values()) > options.bar)


if __name__ == "__main__":
    sys.exit(main())
