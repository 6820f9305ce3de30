"""`league serve`, `league create`: many leagues at one address."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from cyclopts import Parameter

from agent_league.cli import league_options as flags
from agent_league.cli.console import print_document, print_next_steps
from agent_league.cli.gate import read_gate, read_networks
from agent_league.cli.launch import make_flags
from agent_league.cli.organise import call_tool
from agent_league.cli.program import localise
from agent_league.cli.report import format_champion
from agent_league.cli.unread import interrupt_when_unread
from agent_league.cli.warning_digest import digest_warnings
from agent_league.cli.which_league import complete_endpoint
from agent_league.hosting.directory import HostedLeague
from agent_league.hosting.run import Opened, describe_season, load_address, load_token, run_server
from agent_league.hosting.server import ServerSpec
from agent_league.hosting.terms import MOST_PLAYERS
from agent_league.printable import make_printable
from agent_league.protocol import Role
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.running.lineup import ConfigFiles
from agent_league.running.specs import assign_ports, number_agents
from agent_league.store import Event
from agent_league.store.events import EndOrdered, FarewellSaid, SeasonEnded, SeasonStarted

PATIENCE = 30.0
Server = Annotated[
    str | None,
    Parameter(help="The address of the server; by default the one that this folder has."),
]
Sizes = Annotated[
    str | None,
    Parameter(help="How many players each division has, the highest first: 10,10,12."),
]
Seeds = Annotated[
    Path | None, Parameter(help="A file with a player's name in each line, the best first.")
]
Without = Annotated[
    tuple[str, ...], Parameter(negative=(), help="A player who does not play any more.")
]


def serve(
    *,
    port: flags.Port = None,
    referees: Annotated[int, flags.between(0, 10)] = 2,
    host: flags.Host = None,
    endpoint: flags.Endpoint = None,
    networks: flags.Networks = None,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    durability: flags.Durability = "power",
    log_level: flags.LogLevel = "INFO",
) -> None:
    """Run many leagues at one address, until Ctrl-C.

    league create opens a league. Leagues of the store that have not ended go on.

    Parameters
    ----------
    referees
        How many referees all leagues share; 0: every league waits for referees of others.
    """
    files, folder = ConfigFiles(shared), Folder(shared, store, durability)
    base = files.manager_port if port is None else port
    agents = assign_ports(number_agents(Role.REFEREE, referees), base)
    spec = ServerSpec(
        base,
        host or files.host,
        endpoint and complete_endpoint(endpoint),
        [replace(one, game_types=()) for one in agents],
        read_networks(networks),
        log_level,
    )
    try:
        with interrupt_when_unread(), digest_warnings():
            run_server(spec, folder, _print_opened, _print_event)
    except KeyboardInterrupt:
        command = localise(f"league serve{make_flags(folder)}")
        print(f"\nStopped. The leagues go on with: {command}", file=sys.stderr)
        raise


def _print_opened(opened: Opened) -> None:
    root = opened.url.removesuffix("mcp")
    lines = [
        f"Leagues are run at {root}",
        f"  agents join at {opened.url}, or at the address of their league",
        f"  a new league: {localise('league create autumn_cup')}",
    ]
    if opened.new_token is not None:
        lines.append(f"The server's token, shown only now: {opened.new_token}")
    lines += [
        f"{one.league_id} goes on: {describe_season(one.league.season)}" for one in opened.resumed
    ]
    print(*lines, sep="\n", file=sys.stderr, flush=True)


def _print_event(hosted: HostedLeague, event: Event) -> None:
    """Print how a league goes on, in a line for each stage."""
    season = hosted.league.season
    match event:
        case SeasonStarted():
            line = f"begins with {len(event.players)} players"
        case EndOrdered():
            line = f"is ended by its organiser: {event.why}"
        case SeasonEnded() if event.champion:
            line = f"is over. {format_champion(season)}"
        case FarewellSaid() if not season.players:
            line = "is over; it never began"
        case _:
            return
    print(make_printable(f"{hosted.league_id} {line}"), file=sys.stderr, flush=True)


def create(
    league_id: Annotated[str, Parameter(help="The id of the new league.")],
    /,
    *,
    server: Server = None,
    players: Annotated[
        int | None,
        flags.between(2, MOST_PLAYERS, help="It begins by itself when so many have joined."),
    ] = None,
    max_players: Annotated[int | None, flags.between(2, MOST_PLAYERS)] = None,
    terms: flags.ListedTerms = flags.LISTED_TERMS,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Open a league on a server that runs (league serve), and say how agents join it.

    Parameters
    ----------
    max_players
        How many players may join at most.
    """
    wanted: dict[str, Any] = {
        "league_id": league_id,
        "players": players,
        "max_players": max_players,
        **_list_terms(terms),
        **read_gate(terms.join_code, terms.roster),
    }
    created = order_server(server, shared, "create_league", wanted)
    if json:
        return print_document(**created)
    return _print_created(created, shared)


def divisions(
    competition: Annotated[str, Parameter(help="The id of the competition.")],
    /,
    *,
    sizes: Sizes = None,
    movers: Annotated[int | None, flags.between(0, 1000)] = None,
    seeds: Seeds = None,
    without: Without = (),
    server: Server = None,
    terms: flags.Terms = flags.TERMS,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Open the next season of a competition with divisions, on a server that runs.

    The first season needs --sizes. After that, the last of each division change places with the
    first of the one below; what you do not say is as in the last season.

    Parameters
    ----------
    movers
        How many go down from each division, and as many go up; at first 1.
    """
    wanted: dict[str, Any] = {
        "league_id": competition,
        "sizes": read_sizes(sizes) if sizes else None,
        "movers": movers,
        "seeds": read_names(seeds) if seeds else None,
        "gone": list(without) or None,
        **_list_terms(terms),
    }
    opened = order_server(server, shared, "open_season", wanted)
    return print_document(**opened) if json else _print_season(opened, shared)


def _list_terms(terms: flags.Terms) -> dict[str, Any]:
    """Return the terms as a server takes them; what was not said is None."""
    said = {"class_league": terms.class_league or None, "option": terms.option or None}
    return {**vars(terms), **said, "roster": None}


def _print_season(opened: dict[str, Any], shared: Path) -> None:
    """Print who plays where, and how it goes on."""
    competition, leagues = opened["competition"], opened["leagues"]
    for league in leagues:
        names = ", ".join(map(make_printable, league["invited"])) or "whoever joins"
        print(f"{league['league_id']}: {names}")
    url, where = str(leagues[0]["url"]).partition("/leagues/")[0], make_flags(Folder(shared))
    print_next_steps(
        {
            f"league player {url} --league-id {competition} --name NAME": "join one's division",
            f"league begin {leagues[0]['league_id']}{where}": "begin a division",
            f"league divisions {competition}{where}": "the next season, when all are over",
        }
    )


def read_sizes(text: str) -> list[int]:
    """Return numbers that are written with commas, or raise `UsageError`."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--sizes: {text!r} are no numbers", "as in 10,10,12") from None


def read_names(path: Path) -> list[str]:
    """Return the lines of a file, without empty ones."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "one name in each line") from error
    return [line.strip() for line in lines if line.strip()]


def _print_created(created: dict[str, Any], shared: Path) -> None:
    league_id, url, awaited = created["league_id"], created["url"], created["awaited_players"]
    begins = f"when {awaited} players have joined" if awaited else "when you say so"
    print(f"{league_id} is open at {url}; it begins {begins}.", file=sys.stderr)
    print(f"Its organiser's token, shown only now: {created['organiser_token']}", file=sys.stderr)
    where = make_flags(Folder(shared))
    print_next_steps(
        {
            f"league player {url} --name NAME": "join it",
            f"league begin {league_id}{where}": "begin with the players that are there",
            f"league watch {url}": "follow it",
        }
    )


def order_server(
    server: str | None, shared: Path, tool: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    """Return the answer of a server to an order of its staff; what is None was not said."""
    given = {name: value for name, value in arguments.items() if value is not None}
    url = complete_endpoint(server) if server else load_address(shared)
    if url is None:
        hint = "league serve starts one; or give its address with --server"
        raise UsageError(f"no server of leagues runs in {shared}", hint)
    token = load_token(shared)
    if token is None:
        hint = "set LEAGUE_SERVER_TOKEN, or go to the folder from which the server was started"
        raise UsageError(f"only its staff may do this, and {shared} has no token", hint)
    place = urlsplit(url).netloc
    return run(call_tool(url, tool, {**given, "auth_token": token}, PATIENCE, place))
