"""`league manager`, `league referee`, `league player`: one agent each."""

import asyncio
import logging
import signal
import socket
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from agent_league.agent import Member
from agent_league.cli.bookkeeping import bookkeeping
from agent_league.cli.folder import SHARED, Durability, Folder, StoreAddress
from agent_league.cli.screen import PlainScreen
from agent_league.cli.terms import LEAGUE_ID, Legs, Players, Switch, terms
from agent_league.guests import GuestHouse
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
from agent_league.store import EventLog
from agent_league.transport.http_client import HttpClient

LEAGUE = f"http://{LOOPBACK}:{MANAGER_PORT}/mcp"
Port = Annotated[int, Parameter(validator=Number(gte=0, lte=65535))]


def manager(
    *,
    port: Port = MANAGER_PORT,
    league_id: str = LEAGUE_ID,
    players: Players = 4,
    referees: Annotated[int, Parameter(validator=Number(gte=1))] = 1,
    legs: Legs = None,
    seed: str | None = None,
    host: str = LOOPBACK,
    endpoint: str | None = None,
    class_league: Switch = False,
    shared: Path = SHARED,
    store: StoreAddress = None,
    durability: Durability = "power",
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
    endpoint
        The address that others reach it at, if that is another one.
    class_league
        No two agents of one name, and a minute between a round's announcement and its matches.
    shared
        The folder in which leagues are kept; a league of that id that is there goes on.
    store
        Another store than the one in that folder: a file, postgresql://..., or memory.
    durability
        What an acknowledgement survives: the loss of power, or the death of the process.
    """
    settings = terms(
        seed,
        players,
        shared,
        league_id,
        class_league=class_league,
        legs=legs,
        awaited_referees=referees,
    )
    manage(
        settings, Folder(shared, store, durability), host, port, endpoint and endpoint_of(endpoint)
    )


def manage(
    settings: LeagueSettings, folder: Folder, host: str, port: int, endpoint: str | None = None
) -> None:
    """Run the manager of a league, which goes on where it stopped if the folder has it."""
    sock = bound(host, port)
    settings = folder.taken_up(settings)
    try:
        run(_managed(settings, sock, folder, endpoint or url_of(sock)))
    except KeyboardInterrupt:
        folder.say_how_to_resume(settings.league_id)
        raise


async def _managed(settings: LeagueSettings, sock: socket.socket, folder: Folder, url: str) -> None:
    wire, events, screen = HttpClient(), EventLog(), PlainScreen()
    league = LeagueManager(settings, wire, events)
    GuestHouse(league, url)
    try:
        async with folder.store() as store, bookkeeping(league, folder) as clerk:
            await league.open(store)
            say_who_organises(await folder.appoint(league))
            if clerk is not None:
                events.listen(clerk.noted)
            events.listen(screen.heard)
            awaited = f"Waiting for {settings.awaited_players} players"
            print(f"{awaited} at {url}", file=sys.stderr, flush=True)
            with screen.showing(league.season):
                await serve_until(league, sock, league.run())
    finally:
        await wire.close()
    best = league.season.standings()[0]
    print(f"Champion: {best.display_name} ({best.player_id}) {best.points} points")


def say_who_organises(token: str | None) -> None:
    """Tell whoever opened a league the organiser's token, this once."""
    if token is not None:
        print(f"The organiser's token, shown only now: {token}", file=sys.stderr)


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
    shared: Path = SHARED,
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
    shared
        The folder in which it keeps who it is, for when it is started again.
    """
    sock = bound(host, port)
    plan = RefereePlan(
        league_url=endpoint_of(league),
        endpoint=endpoint or url_of(sock),
        league_id=league_id,
        referee_id=referee_id,
        display_name=name or f"Referee {referee_id}",
        capacity=capacity,
        memory=_memory(shared, "referee", port),
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
    shared: Path = SHARED,
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
    shared
        The folder in which it keeps who it is, for when it is started again.
    """
    sock = bound(host, port)
    plan = PlayerPlan(
        league_url=endpoint_of(league),
        endpoint=endpoint or url_of(sock),
        league_id=league_id,
        player_id=player_id,
        display_name=name or f"{player_id} ({strategy.rsplit('/', 1)[-1]})",
        strategy=strategy,
        seed=seed,
        memory=_memory(shared, "player", port),
    )
    run(_member(plan, sock))


def _memory(shared: Path, role: str, port: int) -> Path | None:
    """Return where an agent keeps who it is; one without a port of its own has no next life."""
    return shared / "state" / f"{role}-{port}.json" if port else None


def endpoint_of(url: str) -> str:
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
