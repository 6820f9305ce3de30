"""`league start`: a league that waits for other people's agents."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from agent_league.cli.agents import say_who_organises
from agent_league.cli.bookkeeping import bookkeeping
from agent_league.cli.folder import SHARED, Durability, Folder, LogLevel, StoreAddress
from agent_league.cli.invitation import how_to_join
from agent_league.cli.lineup import Files
from agent_league.cli.orchestration import Orchestration, follow
from agent_league.cli.paper import show
from agent_league.cli.report import table
from agent_league.cli.screen import PlainScreen
from agent_league.cli.terms import Legs, Players, Ports, Referees, Strict, Switch, terms
from agent_league.hosting import run
from agent_league.league import LeagueManager
from agent_league.local import LocalLeague, LocalPlan
from agent_league.protocol import Role


def start(
    *,
    players: Players | None = None,
    referees: Referees | None = None,
    legs: Legs = None,
    seed: str | None = None,
    league_id: str | None = None,
    port_base: Ports | None = None,
    host: str | None = None,
    class_league: Switch = False,
    strict: Strict = None,
    shared: Path = SHARED,
    store: StoreAddress = None,
    durability: Durability = "power",
    log_level: LogLevel = "INFO",
) -> None:
    """Open a league with referees of its own, and wait for players.

    It begins when so many have registered, or when you press Enter.

    Parameters
    ----------
    players
        How many players to wait for.
    referees
        How many referees to start here: those that agents_config.json names, or 2.
    legs
        How often each pair meets.
    seed
        Where all chance comes from.
    league_id
        What the league is called; system.json says it otherwise.
    port_base
        The manager's port; the referees follow.
    host
        The address to listen at; 0.0.0.0 for every one this machine has.
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
    log_level
        What is worth a line in the log of an agent; DEBUG is every message.
    """
    folder, files = Folder(shared, store, durability), Files.read(shared)
    named = league_id or files.system.default_league_id
    base = terms(seed, players, shared, named, class_league=class_league, strict=strict, legs=legs)
    places = files.referees(base.game_type, referees, port_base)
    settings = folder.taken_up(replace(base, awaited_referees=len(places)))
    plan = LocalPlan(
        settings,
        (),
        (),
        referees=len(places),
        port_base=files.manager_port if port_base is None else port_base,
        host=host or files.host,
        referee_places=places,
    )
    _play_out(folder.saved(replace(plan, log_level=log_level)), folder)


def _play_out(plan: LocalPlan, folder: Folder) -> None:
    """Wait for everybody, have the league played, and show how it ended."""
    league_id = plan.settings.league_id
    try:
        with (
            Orchestration(plan.logs, league_id) as journal,
            LocalLeague(plan, journal) as league,
        ):
            _invite(league)
            run(_opened(league, folder))
    except KeyboardInterrupt:
        folder.say_how_to_resume(league_id)
        raise
    rows = league.manager.season.standings()
    show(table(rows))
    print(f"\nChampion: {rows[0].display_name} ({rows[0].player_id}) {rows[0].points} points")


def _invite(league: LocalLeague) -> None:
    awaited = league.plan.settings.awaited_players
    begins = f"when {awaited} players have joined" if awaited else "when you say so"
    lines = [
        f"Registration is open at {league.url}; the league begins {begins}.",
        f"  join:  league player --league {league.url} --port 8101 --name NAME",
    ]
    lines += [f"  guest: {line}" for line in how_to_join(league.url)]
    if sys.stdin.isatty():
        lines.append("  now:   press Enter")
    print(*lines, sep="\n", file=sys.stderr)


async def _opened(league: LocalLeague, folder: Folder) -> None:
    screen = PlainScreen()
    loop = asyncio.get_running_loop()
    if sys.stdin.isatty():
        loop.add_reader(sys.stdin.fileno(), _begin, league.manager)
    async with folder.store() as store, bookkeeping(league.manager, folder) as clerk:
        await league.open(store)
        follow(league.manager, league.journal)
        say_who_organises(await folder.appoint(league.manager))
        if clerk is not None:
            league.events.listen(clerk.noted)
        league.events.listen(screen.heard)
        with screen.showing(league.manager.season):
            await league.play()


def _begin(manager: LeagueManager) -> None:
    """Begin with whoever is there, now that somebody pressed Enter."""
    sys.stdin.readline()
    if manager.conductor.start_now():
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
    else:
        here = len(manager.season.roster.of(Role.PLAYER))
        needed = manager.settings.min_players
        print(f"{here} players are here; it takes {needed}.", file=sys.stderr)
