"""`league play`: a whole league on this machine."""

import asyncio
import json as json_module
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.text import Text

from agent_league.cli.bookkeeping import bookkeeping
from agent_league.cli.endings import UsageError
from agent_league.cli.folder import (
    SHARED,
    Durability,
    Folder,
    LogLevel,
    StoreAddress,
    free_id,
    to_resume,
)
from agent_league.cli.invitation import how_to_join
from agent_league.cli.lineup import Files
from agent_league.cli.orchestration import Orchestration, follow
from agent_league.cli.paper import show
from agent_league.cli.report import season_document, table
from agent_league.cli.screen import Screen, screen_for
from agent_league.cli.terms import Game, Legs, Ports, Referees, Switch, Version, playing, terms
from agent_league.hosting import run
from agent_league.league import LeagueSettings
from agent_league.league.season import Season
from agent_league.local import LocalLeague, LocalPlan, Place
from agent_league.player import load_brain
from agent_league.protocol.fields import VERSION
from agent_league.store import Event
from agent_league.store.events import SeasonEnded, SeasonStarted
from agent_league.store.log import LeagueRow

GREEK = [
    "Alpha",
    "Beta",
    "Gamma",
    "Delta",
    "Epsilon",
    "Zeta",
    "Eta",
    "Theta",
    "Iota",
    "Kappa",
    "Lambda",
    "Mu",
    "Nu",
    "Xi",
    "Omicron",
    "Pi",
    "Rho",
    "Sigma",
    "Tau",
    "Upsilon",
    "Phi",
    "Chi",
    "Psi",
    "Omega",
]
MIXED = ("frequency", "always_even", "markov", "random", "pattern", "alternating", "mirror")

FEWEST = 2

Display = Literal["rich", "plain", "none"]
Policy = Literal["round_robin", "least_busy", "weighted"]


def play(
    *,
    players: Annotated[int, Parameter(validator=Number(gte=0, lte=1000))] | None = None,
    guests: Annotated[int, Parameter(validator=Number(gte=0, lte=100))] = 0,
    strategy: str | None = None,
    referees: Referees | None = None,
    seed: str | None = None,
    legs: Legs = None,
    game: Game = None,
    assign: Policy | None = None,
    protocol: Version | None = None,
    port_base: Ports | None = None,
    display: Display | None = None,
    json: Switch = False,
    shared: Path = SHARED,
    store: StoreAddress = None,
    durability: Durability | None = None,
    resume: Switch = False,
    log_level: LogLevel = "INFO",
) -> None:
    """Play a whole league on this machine: everybody is a process with a port of its own.

    Parameters
    ----------
    players
        How many players of ours: those that agents_config.json names, or 4.
    guests
        How many seats more to leave open, for Claude and others that play by calling the league.
    strategy
        Strategies by name or file, with commas: random,markov,my_own.py. Dealt out in turn.
    referees
        How many referees: those that agents_config.json names, or 2.
    seed
        The same seed gives the same schedule, draws and standings.
    legs
        How often each pair meets.
    game
        What to play, if not what the files say: even_odd, tic_tac_toe, or one of your own.
    assign
        Which referee gets the next match.
    protocol
        What the players speak: league.v2, or league.v1, the earlier one.
    port_base
        The manager's port; referees and players follow. 0 takes any free ports.
    display
        What to show meanwhile: rich on a terminal, else plain.
    json
        Print one JSON document instead of a table.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder: a file, postgresql://..., or memory.
    durability
        What an acknowledgement survives: the loss of power, or the death of the process.
    resume
        Go on with the league in the folder that has not ended, instead of a new one.
    log_level
        What is worth a line in the log of an agent; DEBUG is every message.
    """
    folder = Folder(shared, store, durability or "power")
    rows = folder.leagues()
    if resume or _wants_to_resume(rows, folder):
        folder, row = to_resume(folder)
        plan = folder.plan(row.league_id)
        if plan is None or plan.lonely:
            raise UsageError(f"{row.league_id} was not played from here", "league resume")
        folder = replace(folder, durability=durability or plan.durability)
        return play_out(plan, folder, display, json=json)
    files = Files.read(shared)
    wanted = files.system.default_league_id
    spoken = (protocol,) if protocol else None
    base = terms(seed, None, shared, wanted, legs=legs, assignment=assign, protocols=spoken)
    plan = lined_up(files, base, Wanted(players, referees, strategy, port_base, guests))
    league_id = free_id(wanted, folder.taken(rows))
    if rows:
        earlier = f"{len(rows)} earlier league{'s' if len(rows) > 1 else ''}"
        print(f"{folder.name} holds {earlier}; this one is {league_id}.", file=sys.stderr)
    settings = playing(game, replace(plan.settings, league_id=league_id))
    plan = folder.saved(replace(plan, settings=settings, log_level=log_level))
    return play_out(plan, folder, display, json=json)


@dataclass(frozen=True)
class Wanted:
    """Who is to play, as far as flags say it."""

    players: int | None = None
    referees: int | None = None
    strategy: str | None = None
    port_base: int | None = None
    guests: int = 0


def lined_up(files: Files, base: LeagueSettings, wanted: Wanted) -> LocalPlan:
    """Return a league to be played on *base*, by the agents that flags and files ask for."""
    players = files.players(base.game_type, wanted.players, wanted.port_base)
    referees = files.referees(base.game_type, wanted.referees, wanted.port_base)
    strategies = _dealt(wanted.strategy, players)
    awaited = len(players) + wanted.guests
    if awaited < FEWEST:
        hint = "league play --players 1 --guests 1"
        raise UsageError(f"a league needs {FEWEST} players, this has {awaited}", hint)
    settings = replace(
        base,
        awaited_players=awaited,
        awaited_referees=len(referees),
        max_players=max(base.max_players, awaited),
    )
    return LocalPlan(
        settings,
        strategies,
        _names(players, strategies),
        referees=len(referees),
        port_base=files.manager_port if wanted.port_base is None else wanted.port_base,
        host=files.host,
        referee_places=referees,
        player_places=players,
    )


def play_out(plan: LocalPlan, folder: Folder, display: Display | None, *, json: bool) -> None:
    """Play a league, from its beginning or from where it stopped, and show how it ended."""
    screen = screen_for("none" if json and display is None else display)
    try:
        with (
            Orchestration(plan.logs, plan.settings.league_id) as journal,
            LocalLeague(plan, journal) as league,
        ):
            if not json and display != "none":
                _greet(league)
            _invite(league)
            seconds = run(_played(league, screen, folder))
    except KeyboardInterrupt:
        folder.say_how_to_resume(plan.settings.league_id)
        raise
    if json:
        print(json_module.dumps(season_document(_whole(league, folder), seconds), indent=2))
    else:
        _conclude(league, seconds)


def _whole(league: LocalLeague, folder: Folder) -> Season:
    """Return the season with all its results: a league that was taken up has the latest ones."""
    season = league.manager.season
    if len(season.results) == season.played:
        return season
    return folder.season(season.settings, whole=True)


def _wants_to_resume(rows: Sequence[LeagueRow], folder: Folder) -> bool:
    """Say that a league is waiting, and ask the person at the terminal, if there is one."""
    plans = {row: folder.plan(row.league_id) for row in rows if not row.ended}
    waiting = [row for row, plan in plans.items() if plan and not plan.lonely]
    if not waiting:
        return False
    last = waiting[-1]
    print(f"{last.league_id} has not ended ({last.matches} matches played).", file=sys.stderr)
    if sys.stdin.isatty() and sys.stderr.isatty():
        answer = input("Go on with it? [Y/n] ")
        return answer.strip().lower() in {"", "y", "yes"}
    command = folder.resume_command(last.league_id)
    print(f"A new league begins; to go on with that one: {command}", file=sys.stderr)
    return False


def _dealt(strategy: str | None, players: Sequence[Place]) -> Sequence[str]:
    names = [name.strip() for name in strategy.split(",")] if strategy else MIXED
    if strategy and len(names) > len(players):
        hint = f"league play --players {len(names)} --strategy {strategy}"
        raise UsageError(f"{len(names)} strategies for {len(players)} players", hint)
    own = [None if strategy else place.strategy for place in players]
    dealt = [chosen or name for chosen, name in zip(own, cycle(names), strict=False)]
    for name in dict.fromkeys(dealt):
        load_brain(name)  # a strategy that is not there is said so before anything starts
    # A file is remembered by its whole path: the league may be resumed from another folder.
    return [str(Path(name).resolve()) if name.endswith(".py") else name for name in dealt]


def _names(players: Sequence[Place], strategies: Sequence[str]) -> Sequence[str]:
    return [
        place.display_name
        or f"{_name(number)} ({strategy.rsplit('/', 1)[-1].removesuffix('.py')[:30]})"
        for number, (place, strategy) in enumerate(zip(players, strategies, strict=True))
    ]


def _name(number: int) -> str:
    turn, letter = divmod(number, len(GREEK))
    return f"{GREEK[letter]} {turn + 1}" if turn else GREEK[letter]


async def _played(league: LocalLeague, screen: Screen, folder: Folder) -> float:
    """Play, and return how many seconds it took from the first round to the last result."""
    now = asyncio.get_running_loop().time
    begun = ended = now()

    def time_passes(event: Event) -> None:
        nonlocal begun, ended
        begun = now() if isinstance(event, SeasonStarted) else begun
        ended = now() if isinstance(event, SeasonEnded) else ended

    async with folder.store() as store, bookkeeping(league.manager, folder) as clerk:
        await league.open(store)
        follow(league.manager, league.journal)
        await folder.appoint(league.manager)
        league.events.listen(screen.heard)
        league.events.listen(time_passes)
        if clerk is not None:
            league.events.listen(clerk.noted)
        with screen.showing(league.manager.season):
            await league.play()
    return ended - begun


def _greet(league: LocalLeague) -> None:
    plan = league.plan
    print(
        f"  Agent League   {plan.settings.game_type}   {plan.settings.awaited_players} players   "
        f"{plan.referees} referees   seed {plan.settings.seed}",
        f"  manager {league.url.removesuffix('/mcp')}   (Ctrl-C stops everything)",
        "",
        sep="\n",
        file=sys.stderr,
    )


def _invite(league: LocalLeague) -> None:
    """Tell how the open seats can be taken, if there are any."""
    seats = league.plan.open_seats
    if seats > 0:
        waits = "1 seat waits for a guest" if seats == 1 else f"{seats} seats wait for guests"
        lines = [f"    {line}" for line in how_to_join(league.url)]
        print(f"  {waits}:", *lines, "", sep="\n", file=sys.stderr, flush=True)


def _conclude(league: LocalLeague, seconds: float) -> None:
    season = league.manager.season
    rows = season.standings()
    show(table(rows))
    lost = season.tally["TECHNICAL_LOSS"]
    best = rows[0]
    said = f"\nChampion: {best.display_name} ({best.player_id}) {best.points} points"
    totals = f"[{season.played} matches, {lost} technical losses, {seconds:.1f} s]"
    show(Text(f"{said}   {totals}", style="bold"), soft_wrap=True)
    print(
        "",
        "Next:",
        f"  {_again(season.settings):<38}  play exactly this league again",
        "  league play --strategy my_strategy.py   let your own play: docs/writing-a-strategy.md",
        "  league start --players 4                wait for agents that others wrote",
        sep="\n",
        file=sys.stderr,
    )


def _again(settings: LeagueSettings) -> str:
    spoken = settings.protocols[0]
    return f"league play --seed {settings.seed}" + (
        "" if spoken == VERSION else f" --protocol {spoken}"
    )
