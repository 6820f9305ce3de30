"""`league referee`, `league player`: one agent each, or an MCP server of somebody else."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal
from urllib.parse import urlsplit

from agent_league.cli import league_options as flags
from agent_league.cli.headers import explain_refusal, parse_headers
from agent_league.cli.pool import work_in_pool
from agent_league.cli.unread import interrupt_when_unread
from agent_league.cli.which_league import find_addresses
from agent_league.dialects.mcp.client import McpClient
from agent_league.dialects.mcp.transports import HttpTransport, StdioTransport, Transport
from agent_league.files.config_files import read_addresses
from agent_league.files.logger import AgentLogs
from agent_league.game import GAMES
from agent_league.member import Member
from agent_league.player import MODEL, FinishedMatch, Player
from agent_league.printable import format_count, make_printable
from agent_league.protocol import Role
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.play import GameMoveCall, ParityCall
from agent_league.referee.seated_player import PARITY_GAME
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.running.lineup import LOCAL_HOSTS, ConfigFiles, split_games
from agent_league.running.members import find_learned_file, run_members
from agent_league.running.serve import LOOPBACK, bind_first, find_own_address, open_client
from agent_league.running.specs import AgentSpec, LeagueLink, claim_id
from agent_league.vocabulary import Level

PATIENCE = 60.0
"""Seconds that a server has to show its tools; one that is being started may be slow."""


def referee(
    league: flags.Addresses = None,
    *,
    port: flags.Port = None,
    league_id: flags.JoinedLeague = None,
    join_code: flags.JoinCode = None,
    referee_id: str = "referee",
    name: flags.DisplayName = None,
    capacity: Annotated[int, flags.between(1, 10)] | None = None,
    pool: str | None = None,
    seats: Annotated[int, flags.between(2, 1000)] = 10,
    host: flags.Host = None,
    endpoint: flags.Endpoint = None,
    patient: flags.Patient = False,
    shared: flags.AgentFolder = SHARED,
    log_level: flags.LogLevel = "INFO",
    trace: flags.Trace = False,
) -> None:
    """Run one referee until the league is over.

    Parameters
    ----------
    referee_id
        The id to ask for, such as REF01.
    capacity
        How many matches to run at once.
    pool
        Be a worker of the referee pool instead: postgresql://..., the store of the leagues. It
        joins no league and listens nowhere; it takes matches of any league until it is stopped.
    seats
        How many matches a worker of the pool runs at once.
    """
    if pool is not None:
        return work_in_pool(pool, seats, shared, log_level)
    files = ConfigFiles(shared, lenient=True)
    found = files.find_agent(Role.REFEREE, referee_id)
    spec = replace(
        found,
        display_name=name or found.display_name,
        capacity=capacity or found.capacity,
        endpoint=endpoint or "",
        addresses=read_addresses(shared),
    )
    joining = {"league_id": league_id, "join_code": join_code, "waits_for_league": patient}
    link = files.make_link(find_addresses(league, Folder(shared)), **joining, trace=trace)
    return _run_agent(spec, link, files, host, port, log_level)


def player(
    league: flags.Addresses = None,
    *,
    port: flags.Port = None,
    league_id: flags.JoinedLeague = None,
    join_code: flags.JoinCode = None,
    player_id: str = "player",
    strategy: str | None = None,
    model: str | None = None,
    games: str | None = None,
    standings: Literal["all", "neighbours", "round", "none"] | None = None,
    name: flags.DisplayName = None,
    seed: flags.Seed = None,
    host: flags.Host = None,
    endpoint: flags.Endpoint = None,
    patient: flags.Patient = False,
    shared: flags.AgentFolder = SHARED,
    log_level: flags.LogLevel = "INFO",
    protocol: flags.Protocol = "league.v2",
    mcp: str | None = None,
    mcp_command: str | None = None,
    header: flags.Header = (),
) -> None:
    """Run one player until the league is over, or let an MCP server play.

    Parameters
    ----------
    player_id
        The id to ask for, such as P01.
    strategy
        A strategy by name, or a file with your own; llm asks a language model.
    model
        The model of --strategy llm; docs/comparing-agents.md says how it is reached.
    games
        The games that it plays, with commas; by default every game that is known here.
    standings
        Which updates of the table to get: all, as is usual; only the rows near its own; one after
        each round; or none.
    mcp
        The address of an MCP server that is to play; it is registered, and nothing is run here,
        unless it wants headers: then this command passes the calls on with them.
    mcp_command
        A command that starts an MCP server which is to play; it runs here, as you.
    """
    files, urls = ConfigFiles(shared, lenient=True), find_addresses(league, Folder(shared))
    joining = {"league_id": league_id, "join_code": join_code, "waits_for_league": patient}
    link = files.make_link(urls, dialect=protocol, seed=seed, **joining)
    found = replace(files.find_agent(Role.PLAYER, player_id), standings=standings)
    found = replace(found, game_types=split_games(games) or found.game_types)
    headers = parse_headers(header)
    if mcp or mcp_command:
        name = name or f"{player_id} (mcp)"
        found = replace(found, game_types=run(_find_games(mcp, mcp_command, headers)))
    if mcp and not headers:
        server = replace(found, display_name=str(name), endpoint=mcp)
        return run(_register(server, link))
    chosen = f"{MODEL}:{model}" if model else strategy
    named = _choose_strategy(found, chosen, name, files.player.display_name)
    spec = replace(named, mcp_command=mcp_command, mcp_url=mcp, mcp_headers=headers)
    placed = replace(spec, endpoint=endpoint or "")
    return _run_agent(placed, link, files, host, port, log_level)


def _choose_strategy(
    found: AgentSpec, strategy: str | None, name: str | None, usual: str
) -> AgentSpec:
    """Return a player with its strategy and its name; flags win over files."""
    chosen = strategy or found.strategy or "random"
    default_name = f"{usual} ({chosen.rsplit('/', 1)[-1]})"
    display_name = name or found.display_name or default_name
    return replace(found, strategy=chosen, display_name=display_name)


def _run_agent(
    spec: AgentSpec,
    link: LeagueLink,
    files: ConfigFiles,
    host: str | None,
    port: int | None,
    log_level: Level,
) -> None:
    """Run one agent at *port*, or else at its own port or the first of its range that is free."""
    ports = files.list_ports(spec) if port is None else [port]
    sock = bind_first(host or _choose_host(files.host, link.url), ports)
    bound = sock.getsockname()[1]
    if spec.agent_id == spec.role:  # no id was given
        spec = replace(spec, agent_id=claim_id(spec.role, bound) or spec.agent_id)
    identity = f"{spec.role}-{bound}.json"
    # An agent that takes any port is another one next time.
    identity_path = None if port == 0 else files.shared / "state" / identity
    learned = identity_path and find_learned_file(identity_path.parent, spec)
    placed = replace(spec, identity_path=identity_path, learned_path=learned)
    logs = AgentLogs(files.shared / "logs", log_level)

    members: list[Member] = []

    def print_joined(member: Member) -> None:
        league = member.league_id or "the league"
        line = f"{member.name} is in {league} at {member.league_url}"
        print(make_printable(line), file=sys.stderr)
        members.append(member)
        if isinstance(member, Player):
            member.save_match = partial(_save_and_print, member.save_match)

    async def main() -> None:
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await run_members([(placed, sock)], link, stop, logs, print_joined)

    with interrupt_when_unread():
        run(main())
    for member in members:
        _print_place(member)


def _save_and_print(save: Callable[[FinishedMatch], object], played: FinishedMatch) -> None:
    save(played)
    outcome = {True: "won", False: "lost", None: "draw"}[played.won]
    moves = f"{played.mine or '-'} v {played.theirs or '-'}"
    line = f"{played.match_id}  against {played.opponent}: {outcome} ({moves})"
    print(make_printable(line), file=sys.stderr)


def _print_place(member: Member) -> None:
    """Print where a player ended, if the league said so."""
    for row in member.final.final_standings if member.final else ():
        if row.player_id == member.name:
            place = f"{member.name} is number {row.rank} with {format_count(row.points, 'point')}"
            print(f"The league is over: {place}.", file=sys.stderr)


def _choose_host(own: str, league_url: str) -> str:
    """Return *own*, or our address towards the league, if only that can be reached from there."""
    league = urlsplit(league_url).hostname or own
    return own if own != LOOPBACK or league in LOCAL_HOSTS else find_own_address(league)


async def _register(spec: AgentSpec, link: LeagueLink) -> None:
    """Register the server at the endpoint of *spec*, which plays from then on by itself."""
    async with open_client() as wire:
        member = spec.make_member(wire, link)
        await member.register(link.retry)
    league = member.league_id or "the league"
    line = f"{member.name} is in {league}, played by {spec.endpoint}"
    print(make_printable(line), file=sys.stderr)


async def _find_games(
    url: str | None, command: str | None, headers: Mapping[str, str]
) -> Sequence[str]:
    """Return the games that the server has tools for; a command is tried once for that."""
    if url and command:
        raise UsageError("a player is either at an address or behind a command", "give one")
    if url is not None:
        async with open_client() as wire:
            return await _find_games_of(HttpTransport(url, wire.exchange, headers))
    transport = StdioTransport(str(command))
    try:
        return await _find_games_of(transport)
    finally:
        await transport.close()


async def _find_games_of(transport: Transport) -> Sequence[str]:
    try:
        toolbox = await McpClient(transport).list_tools(PATIENCE)
    except NoAnswerError as error:
        problem = UsageError(
            f"there is no MCP server: {error}",
            "give the address or the command of a server that runs; league mcp ls shows one's tools",
        )
        raise explain_refusal(error) or problem from error
    other_games = [game for game in GAMES if game != PARITY_GAME]
    tools = {ParityCall.route.tool: [PARITY_GAME], GameMoveCall.route.tool: other_games}
    games = [game for tool, played in tools.items() if tool in toolbox.tools for game in played]
    if not games:
        offered = ", ".join(sorted(toolbox.tools)[:10]) or "nothing"
        wanted = " or ".join(tools)
        raise UsageError(f"{transport.name} offers {offered}", f"it needs a tool {wanted}")
    return games
