"""The SDK is imported by the first request that needs it, and by nothing else."""

import json
import subprocess
import sys

import msgspec
import pytest

from protocol.samples import SAMPLES

PLAYER = """
import asyncio, json, sys
import agent_league.running.processes
from agent_league.serving.site import make_site
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.player import Player, load_brain
from agent_league.protocol.registration import PlayerMeta
from agent_league.http.client import HttpClient
from agent_league.http.server import HttpServer

CALL = json.loads(sys.argv[1])


def known():
    return sorted({"mcp", "mcp_types", "pydantic", "starlette"} & sys.modules.keys())


async def main():
    wire, sock = HttpClient(), bind(LOOPBACK, 0)
    meta = PlayerMeta(display_name="P", version="1.0.0", game_types=["even_odd"],
                      contact_endpoint=url_of(sock))
    player = Player("P01", wire, "http://localhost:9/mcp", meta=meta, brain=load_brain("random"))
    server = await HttpServer.start(make_site(player), sock)

    async def say(method, params):
        frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return (await wire.post(url_of(sock), json.dumps(frame).encode(), 20.0)).status

    told = [await say("choose_parity", CALL), known()]
    told += [await say("tools/call", {"name": "choose_parity", "arguments": CALL}), known()]
    init = {"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}
    told += [await say("initialize", init), known()]
    await server.close()
    await wire.close()
    print(json.dumps(told))


asyncio.run(main())
"""


CALL = msgspec.json.encode(SAMPLES["CHOOSE_PARITY_CALL"]).decode()


@pytest.mark.processes
def test_a_player_that_is_never_spoken_to_in_mcp_does_not_import_the_sdk() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PLAYER, CALL],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    spoken, at_first, called, still, initialized, then = json.loads(ran.stdout)
    assert (spoken, called) == (200, 200)
    assert at_first == still == []
    assert initialized in {200, 406}  # our own client does not say what it accepts
    assert "mcp" in then
