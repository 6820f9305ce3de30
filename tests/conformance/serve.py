"""Serves a league manager that also has what the conformance suite wants to find."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

from agent_league.hosting import LOOPBACK, bound, run, serve_until, url_of
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.mcp.offer import Offer
from agent_league.mcp.tools import ToolCard
from agent_league.store import EventLog
from agent_league.transport.http_client import HttpClient
from conformance import fixtures


class Examinee(LeagueManager):
    """A manager as it is, with more tools, resources and prompts."""

    def tools(self) -> Sequence[ToolCard]:
        return (*super().tools(), *fixtures.tools())

    def offer(self) -> Offer:
        offer = super().offer()
        return replace(
            offer,
            resources=(*offer.resources, *fixtures.resources()),
            templates=(*offer.templates, *fixtures.templates()),
            prompts=(*offer.prompts, *fixtures.prompts()),
            extend=fixtures.extend,
        )


async def main() -> None:
    wire = HttpClient()
    manager = Examinee(LeagueSettings(seed="7"), wire, EventLog())
    await manager.open()
    sock, stop = bound(LOOPBACK, 0), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    sys.stdout.write(url_of(sock) + "\n")
    sys.stdout.flush()
    await serve_until(manager, sock, stop.wait())
    await wire.close()


if __name__ == "__main__":
    run(main())
