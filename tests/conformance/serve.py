"""Serves a league manager that also has what the conformance suite wants to find."""

import asyncio
import signal
import sys
from dataclasses import replace

from agent_league.http.client import HttpClient
from agent_league.league import LeagueManager
from agent_league.offer import Caller, Offer, ToolCard
from agent_league.protocol import ErrorCode, ProtocolError
from agent_league.protocol.message import Result
from agent_league.running.event_loop import run
from agent_league.running.serve import LOOPBACK, bind, serve_until, url_of
from agent_league.season.settings import LeagueSettings
from agent_league.store import EventLog
from agent_league.vocabulary import Json
from conformance import fixtures


def refuse(arguments: dict[str, Json], caller: Caller) -> Result:
    legal = ["even", "odd"]
    raise ProtocolError(ErrorCode.ILLEGAL_MOVE, "move: not a legal move", legal_moves=legal)


ILLEGAL_MOVE = ToolCard(
    "test_illegal_move",
    "Refuses every move, though its output schema promises one.",
    refuse,
    output_schema={"type": "object", "properties": {"move": {}}, "required": ["move"]},
)


class Examinee(LeagueManager):
    """A manager as it is, with more tools, resources and prompts."""

    def offer(self) -> Offer:
        offer = super().offer()
        return replace(
            offer,
            tools=(*offer.tools, ILLEGAL_MOVE, *fixtures.tools()),
            resources=(*offer.resources, *fixtures.resources()),
            prompts=(*offer.prompts, *fixtures.prompts()),
            extend=fixtures.extend,
        )


async def main() -> None:
    wire = HttpClient()
    manager = Examinee(LeagueSettings(seed="7"), wire, EventLog())
    await manager.open()
    sock, stop = bind(LOOPBACK, 0), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    sys.stdout.write(url_of(sock) + "\n")
    sys.stdout.flush()
    await serve_until(manager, sock, stop.wait())
    await wire.close()


if __name__ == "__main__":
    run(main())
