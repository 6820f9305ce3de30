"""`league manager`, `league referee`, `league player`: one agent each."""

import asyncio
import logging
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from agent_league.agent import Member
from agent_league.cli.bookkeeping import bookkeeping
from agent_league.cli.folder import SHARED, Durability, Folder, LogLevel, StoreAddress
from agent_league.cli.foreign import enlist, games_of
from agent_league.cli.lineup import Files
from agent_league.cli.orchestration import Orchestration, follow
from agent_league.cli.screen import PlainScreen
from agent_league.cli.terms import Legs, Players, Strict, Switch, Version, terms
from agent_league.guests import GuestHouse
from agent_league.hosting import (
    Plan,
    PlayerPlan,
    PortBusyError,
    RefereePlan,
    StandInPlan,
    bound,
    run,
    run_members,
    serve_until,
    url_of,
)
from agent_league.journal import Journal
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.local import LocalPlan, Place
from agent_league.sdk.journals import Journals
from agent_league.store import EventLog
from agent_league.transport.http_client import HttpClient

Port = Annotated[int, Parameter(validator=Number(gte=0, lte=65535))]


def manager(
    *,
    port: Port | None = None,
    league_id: str | None = None,
    players: Players = 4,
    referees: Annotated[int, Parameter(validator=Number(gte=1))] = 1,
    legs: Legs = None,
    seed: str | None = None,
    host: str | None = None,
    endpoint: str | None = None,
    class_league: Switch = False,
    strict: Strict = None,
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
        What the league is called; system.json says it otherwise.
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
        No two agents of one name, a minute between a round's announcement and its matches, strict.
    strict
        Refuse what deviates from the protocol, and disqualify; tolerant: understand and note it.
    shared
        The folder in which leagues are kept; a league of that id that is there goes on.
    store
        Another store than the one in that folder: a file, postgresql://..., or memory.
    durability
        What an acknowledgement survives: the loss of power, or the death of the process.
    """
    files = Files.read(shared)
    settings = terms(
        seed,
        players,
        shared,
        league_id or files.system.default_league_id,
        class_league=class_league,
        strict=strict,
        legs=legs,
        awaited_referees=referees,
    )
    listens = files.manager_port if port is None else port
    known = endpoint and endpoint_of(endpoint)
    manage(settings, Folder(shared, store, durability), host or files.host, listens, known)


def manage(
    settings: LeagueSettings, folder: Folder, host: str, port: int, endpoint: str | None = None
) -> None:
    """Run the manager of a league, which goes on where it stopped if the folder has it."""
    sock = bound(host, port)
    settings = folder.taken_up(settings)
    known = folder.plan(settings.league_id)
    if known is None or known.lonely:
        folder.saved(LocalPlan(settings, (), (), referees=0, port_base=port, host=host))
    try:
        with Orchestration(folder.logs, settings.league_id) as journal:
            run(_managed(settings, sock, folder, journal, endpoint or url_of(sock)))
    except KeyboardInterrupt:
        folder.say_how_to_resume(settings.league_id)
        raise


async def _managed(
    settings: LeagueSettings, sock: socket.socket, folder: Folder, journal: Journal, url: str
) -> None:
    wire, events, screen = HttpClient(), EventLog(), PlainScreen()
    league = LeagueManager(settings, wire, events)
    GuestHouse(league, url)
    try:
        async with folder.store() as store, bookkeeping(league, folder) as clerk:
            await league.open(store)
            follow(league, journal)
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
    port: Port | None = None,
    league_id: str | None = None,
    referee_id: str = "referee",
    league: str | None = None,
    name: str | None = None,
    capacity: Annotated[int, Parameter(validator=Number(gte=1, lte=10))] | None = None,
    host: str | None = None,
    endpoint: str | None = None,
    patient: Switch = False,
    shared: Path = SHARED,
    log_level: LogLevel = "INFO",
) -> None:
    """Run one referee until the league is over.

    Parameters
    ----------
    port
        Where to listen: as agents_config.json says, or the first port of the range that is free.
    league_id
        Which league to join; whichever is there if not given.
    referee_id
        The id to ask for, such as REF01.
    league
        The league manager's address, if the files do not say it.
    name
        The name that others see.
    capacity
        How many matches to run at once.
    host
        The address to listen at.
    endpoint
        The address that others reach it at, if that is another one.
    patient
        Wait for the league, if it is not there yet.
    shared
        The folder in which it keeps who it is, for when it is started again, and its log.
    log_level
        What is worth a line in the log of an agent; DEBUG is every message.
    """
    files = Files.read(shared)
    place = files.one_referee(referee_id)
    sock = _listening(
        files.system.network.default_referee_port_range, host or files.host, port, place
    )
    plan = RefereePlan(
        league_url=endpoint_of(league or files.league_url),
        endpoint=endpoint or url_of(sock),
        league_id=league_id,
        referee_id=referee_id,
        display_name=name or place.display_name,
        game_types=place.game_types,
        capacity=capacity or place.capacity,
        version=place.version,
        patience=files.patience,
        retry=files.retry,
        memory=_memory(shared, "referee", sock, port),
        patient=patient,
    )
    run(_member(plan, sock, Journals(shared / "logs", log_level)))


def player(
    *,
    port: Port | None = None,
    league_id: str | None = None,
    player_id: str = "player",
    league: str | None = None,
    strategy: str | None = None,
    name: str | None = None,
    seed: str | None = None,
    host: str | None = None,
    endpoint: str | None = None,
    patient: Switch = False,
    shared: Path = SHARED,
    log_level: LogLevel = "INFO",
    protocol: Version = "league.v2",
    mcp: str | None = None,
    mcp_command: str | None = None,
) -> None:
    """Run one player until the league is over, or let an MCP server play.

    Parameters
    ----------
    port
        Where to listen: as agents_config.json says, or the first port of the range that is free.
    league_id
        Which league to join; whichever is there if not given.
    player_id
        The id to ask for, such as P01.
    league
        The league manager's address, if the files do not say it.
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
    patient
        Wait for the league, if it is not there yet.
    shared
        The folder in which it keeps who it is, for when it is started again, and its log.
    log_level
        What is worth a line in the log of an agent; DEBUG is every message.
    protocol
        What it speaks: league.v2, or league.v1, the earlier one.
    mcp
        The address of an MCP server that is to play; it is registered, and nothing is run here.
    mcp_command
        A command that starts an MCP server which is to play; it runs here, as you.
    """
    files = Files.read(shared)
    url = endpoint_of(league or files.league_url)
    if mcp or mcp_command:
        name = name or f"{player_id} (mcp)"
        games = games_of(mcp, mcp_command)
    if mcp:
        return enlist(PlayerPlan(url, mcp, league_id, player_id, str(name), game_types=games))
    place = files.one_player(player_id, strategy)
    sock = _listening(
        files.system.network.default_player_port_range, host or files.host, port, place
    )
    plan = PlayerPlan(
        league_url=url,
        endpoint=endpoint or url_of(sock),
        league_id=league_id,
        player_id=player_id,
        display_name=name or place.display_name,
        strategy=strategy or place.strategy or "random",
        seed=seed,
        dialect=protocol,
        game_types=place.game_types,
        version=place.version,
        patience=files.patience,
        retry=files.retry,
        memory=_memory(shared, "player", sock, port),
        patient=patient,
    )
    stand_in = StandInPlan(replace(plan, game_types=games), mcp_command) if mcp_command else None
    return run(_member(stand_in or plan, sock, Journals(shared / "logs", log_level)))


def _listening(ports: tuple[int, int], host: str, port: int | None, place: Place) -> socket.socket:
    """Return a socket at the port that was asked for, or else at the first of *ports* free."""
    if port is not None or place.port:
        return bound(host, place.port if port is None else port)
    for candidate in range(ports[0], ports[1]):
        with suppress(PortBusyError):
            return bound(host, candidate)
    return bound(host, ports[1])


def _memory(shared: Path, role: str, sock: socket.socket, port: int | None) -> Path | None:
    """Return where an agent keeps who it is; one that takes any port has no next life."""
    taken = sock.getsockname()[1]
    return None if port == 0 else shared / "state" / f"{role}-{taken}.json"


def endpoint_of(url: str) -> str:
    """Return the address of the endpoint, however the league was named."""
    whole = url if "://" in url else f"http://{url}"
    return whole if whole.rstrip("/").endswith("/mcp") else f"{whole.rstrip('/')}/mcp"


async def _member(plan: Plan, sock: socket.socket, journals: Journals) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await run_members([plan], [sock], stop, _say_joined, journals.of)


def _say_joined(member: Member) -> None:
    print(f"{member.name} is in {member.league_id} at {member.league_url}", file=sys.stderr)
