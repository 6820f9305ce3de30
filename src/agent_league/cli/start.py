"""`league start`: a league that waits for other people's agents."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console

from agent_league.cli.agents import say_who_organises
from agent_league.cli.bookkeeping import bookkeeping
from agent_league.cli.folder import SHARED, Durability, Folder, StoreAddress
from agent_league.cli.invitation import how_to_join
from agent_league.cli.report import table
from agent_league.cli.screen import PlainScreen
from agent_league.cli.terms import LEAGUE_ID, Legs, Players, Ports, Switch, terms
from agent_league.hosting import LOOPBACK, MANAGER_PORT, run
from agent_league.league import LeagueManager
from agent_league.local import LocalLeague, LocalPlan
from agent_league.protocol import Role


def start(
    *,
    players: Players | None = None,
    referees: Annotated[int, Parameter(validator=Number(gte=1, lte=10))] = 2,
    legs: Legs = None,
    seed: str | None = None,
    league_id: str = LEAGUE_ID,
    port_base: Ports = MANAGER_PORT,
    host: str = LOOPBACK,
    class_league: Switch = False,
    shared: Path = SHARED,
    store: StoreAddress = None,
    durability: Durability = "power",
) -> None:
    """Open a league with referees of its own, and wait for players.

    It begins when so many have registered, or when you press Enter.

    Parameters
    ----------
    players
        How many players to wait for.
    referees
        How many referees to start here.
    legs
        How often each pair meets.
    seed
        Where all chance comes from.
    league_id
        What the league is called.
    port_base
        The manager's port; the referees follow.
    host
        The address to listen at; 0.0.0.0 for every one this machine has.
    class_league
        No two agents of one name, and a minute between a round's announcement and its matches.
    shared
        The folder in which leagues are kept; a league of that id that is there goes on.
    store
        Another store than the one in that folder: a file, postgresql://..., or memory.
    durability
        What an acknowledgement survives: the loss of power, or the death of the process.
    """
    folder = Folder(shared, store, durability)
    wanted = terms(
        seed,
        players,
        shared,
        league_id,
        class_league=class_league,
        legs=legs,
        awaited_referees=referees,
    )
    settings = folder.taken_up(wanted)
    plan = LocalPlan(settings, (), (), referees=referees, port_base=port_base, host=host)
    plan = folder.saved(plan)
    try:
        with LocalLeague(plan) as league:
            _invite(league)
            run(_opened(league, folder))
    except KeyboardInterrupt:
        folder.say_how_to_resume(settings.league_id)
        raise
    rows = league.manager.season.standings()
    Console(highlight=False).print(table(rows))
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
