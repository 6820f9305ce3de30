"""`league manager`, `league referee`, `league player`: one agent each."""

import asyncio
import logging
import signal
import socket
import sys
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from agent_league.agent import Member
from agent_league.cli.screen import PlainScreen
from agent_league.cli.terms import Legs, Players, Switch, terms
from agent_league.hosting import (
    LOOPBACK,
    MANAGER_PORT,
    Plan,
    PlayerPlan,
    RefereePlan,
    bound,
    run,
    run_members,
    serve_until,
    url_of,
)
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.store import MemoryLog
from agent_league.transport.http_client import HttpClient

LEAGUE = f"http://{LOOPBACK}:{MANAGER_PORT}/mcp"
Port = Annotated[int, Parameter(validator=Number(gte=0, lte=65535))]


def manager(
    *,
    port: Port = MANAGER_PORT,
    league_id: str = "league_2025_even_odd",
    players: Players = 4,
    referees: Annotated[int, Parameter(validator=Number(gte=1))] = 1,
    legs: Legs = 1,
    seed: str | None = None,
    host: str = LOOPBACK,
    class_league: Switch = False,
) -> None:
    """Run a league manager alone; it begins when enough players and referees have registered.

    Parameters
    ----------
    port
        Where to listen.
    league_id
        What the league is called.
    players
        How many players to wait for.
    referees
        How many referees to wait for.
    legs
        How often each pair meets.
    seed
        Where all chance comes from.
    host
        The address to listen at; 0.0.0.0 for every one this machine has.
    class_league
        No two agents of one name, and a minute between a round's announcement and its matches.
    """
    settings = terms(
        seed,
        players,
        class_league=class_league,
        league_id=league_id,
        legs=legs,
        awaited_referees=referees,
    )
    sock = bound(host, port)
    print(f"Waiting for {players} players at {url_of(sock)}", file=sys.stderr)
    run(_managed(settings, sock))


async def _managed(settings: LeagueSettings, sock: socket.socket) -> None:
    wire, events, screen = HttpClient(), MemoryLog(), PlainScreen()
    league = LeagueManager(settings, wire, events)
    events.listen(screen.heard)
    try:
        with screen.showing(league.season):
            await league.open()
            await serve_until(league, sock, league.run())
    finally:
        await wire.close()
    best = league.season.standings()[0]
    print(f"Champion: {best.display_name} ({best.player_id}) {best.points} points")


def referee(
    *,
    port: Port = MANAGER_PORT + 1,
    league_id: str | None = None,
    referee_id: str = "referee",
    league: str = LEAGUE,
    name: str | None = None,
    capacity: Annotated[int, Parameter(validator=Number(gte=1, lte=10))] = 10,
    host: str = LOOPBACK,
    endpoint: str | None = None,
) -> None:
    """Run one referee until the league is over.

    Parameters
    ----------
    port
        Where to listen.
    league_id
        Which league to join; whichever is there if not given.
    referee_id
        The id to ask for, such as REF01.
    league
        The league manager's address.
    name
        The name that others see.
    capacity
        How many matches to run at once.
    host
        The address to listen at.
    endpoint
        The address that others reach it at, if that is another one.
    """
    sock = bound(host, port)
    plan = RefereePlan(
        league_url=_mcp(league),
        endpoint=endpoint or url_of(sock),
        league_id=league_id,
        referee_id=referee_id,
        display_name=name or f"Referee {referee_id}",
        capacity=capacity,
    )
    run(_member(plan, sock))


def player(
    *,
    port: Port = MANAGER_PORT + 101,
    league_id: str | None = None,
    player_id: str = "player",
    league: str = LEAGUE,
    strategy: str = "random",
    name: str | None = None,
    seed: str | None = None,
    host: str = LOOPBACK,
    endpoint: str | None = None,
) -> None:
    """Run one player until the league is over.

    Parameters
    ----------
    port
        Where to listen.
    league_id
        Which league to join; whichever is there if not given.
    player_id
        The id to ask for, such as P01.
    league
        The league manager's address.
    strategy
        A strategy by name, or a file with your own.
    name
        The name that others see.
    seed
        The same seed gives the same choices.
    host
        The address to listen at.
    endpoint
        The address that others reach it at, if that is another one.
    """
    sock = bound(host, port)
    plan = PlayerPlan(
        league_url=_mcp(league),
        endpoint=endpoint or url_of(sock),
        league_id=league_id,
        player_id=player_id,
        display_name=name or f"{player_id} ({strategy.rsplit('/', 1)[-1]})",
        strategy=strategy,
        seed=seed,
    )
    run(_member(plan, sock))


def _mcp(url: str) -> str:
    """Return the address of the endpoint, however the league was named."""
    whole = url if "://" in url else f"http://{url}"
    return whole if whole.rstrip("/").endswith("/mcp") else f"{whole.rstrip('/')}/mcp"


async def _member(plan: Plan, sock: socket.socket) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await run_members([plan], [sock], stop, joined=_say_joined)


def _say_joined(member: Member) -> None:
    print(f"{member.name} is in {member.league_id} at {member.league_url}", file=sys.stderr)
