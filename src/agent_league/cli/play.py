"""`league play`, `league resume`, `league leagues`: leagues on this machine."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from rich.text import Text

from agent_league.cli import league_options as flags
from agent_league.cli.console import print_json, print_next_steps, show
from agent_league.cli.launch import (
    launch,
    list_join_steps,
    make_flags,
    make_resume_command,
)
from agent_league.cli.next_steps import list_steps_after_play
from agent_league.cli.report import (
    build_season_document,
    format_champion,
    print_final_standings,
    show_standings,
)
from agent_league.cli.screens import choose_screen
from agent_league.cli.start import run_for_others, run_manager
from agent_league.cli.web import BrowserOpener, keep_showing
from agent_league.printable import format_count
from agent_league.protocol import Role
from agent_league.running.errors import UsageError
from agent_league.running.folder import SHARED, Folder
from agent_league.running.league_run import LeagueRun, Observer
from agent_league.running.lineup import ConfigFiles, Lineup
from agent_league.running.specs import LeagueSpec
from agent_league.season.assignment import POLICIES
from agent_league.season.season import Stage
from agent_league.season.settings import LeagueSettings
from agent_league.store.store import LeagueRow

if TYPE_CHECKING:
    Policy = str
else:
    Policy = Literal[tuple(POLICIES)]


def play(
    *,
    players: Annotated[int, flags.between(0, 1000)] | None = None,
    guests: Annotated[int, flags.between(0, 100)] = 0,
    strategy: str | None = None,
    referees: flags.Referees | None = None,
    seed: flags.Seed = None,
    course: flags.Course = flags.COURSE,
    game: flags.Game = None,
    assign: Policy | None = None,
    protocol: flags.Protocol | None = None,
    port_base: flags.PortBase = None,
    isolate: flags.Switch = False,
    display: flags.Display | None = None,
    json: flags.Json = False,
    shared: flags.Shared = SHARED,
    store: flags.StoreAddress = None,
    durability: flags.Durability | None = None,
    resume: flags.Switch = False,
    open: flags.Open = False,  # noqa: A002 - the flag's name
    seen: flags.Seen = flags.SEEN,
) -> None:
    """Play a whole league on this machine: each agent is a server with a port of its own.

    Parameters
    ----------
    players
        How many players to start: by default those in agents_config.json, or 4.
    guests
        How many more seats to leave open, for Claude and others that play by calling the league.
    strategy
        Strategies by name or file, with commas: random,markov,my_own.py. Dealt out in turn.
    assign
        Which referee gets the next match.
    isolate
        Give every agent a process of its own; by default they share one for each core.
    resume
        Go on with the league in the folder that has not ended, instead of a new one.
    """
    folder = Folder(shared, store, durability or "power")
    rows = folder.list_leagues()
    if resume or _wants_to_resume(rows, folder):
        folder, row = folder.find_resumable()
        spec = folder.load_spec(row.league_id)
        if spec is None or spec.is_manager_only:
            raise UsageError(f"{row.league_id} was not played from here", "league resume")
        folder = replace(folder, durability=durability or spec.durability)
        return play_out(spec, folder, display, json=json, open_browser=open)
    files = ConfigFiles(shared)
    chosen = vars(course) | {"protocols": protocol and (protocol,)}
    base = files.make_settings(None, seed, game=game, assignment=assign, **chosen)
    spec = files.make_spec(base, Lineup(players, referees, strategy, port_base, guests))
    settings = replace(spec.settings, league_id=folder.find_free_id(base.league_id, rows))
    _print_earlier(rows, folder, settings.league_id)
    spec = folder.save_spec(replace(spec, settings=settings, isolate=isolate, **vars(seen)))
    return play_out(spec, folder, display, json=json, open_browser=open)


def _print_earlier(rows: Sequence[LeagueRow], folder: Folder, league_id: str) -> None:
    if rows:
        earlier = format_count(len(rows), "earlier league")
        print(f"{folder.name} holds {earlier}; this one is {league_id}.", file=sys.stderr)


def _wants_to_resume(rows: Sequence[LeagueRow], folder: Folder) -> bool:
    """Say that a league has not ended, and ask the person at the terminal, if there is one."""
    specs = {row: folder.load_spec(row.league_id) for row in rows if not row.ended}
    waiting = [row for row, spec in specs.items() if spec and not spec.is_manager_only]
    if not waiting:
        return False
    last = waiting[-1]
    played = format_count(last.matches, "match")
    print(f"{last.league_id} has not ended ({played} played).", file=sys.stderr)
    if sys.stdin.isatty() and sys.stderr.isatty():
        answer = input("Go on with it? [Y/n] ")
        return answer.strip().lower() in {"", "y", "yes"}
    command = make_resume_command(last.league_id, folder)
    print(f"A new league begins; to go on with that one: {command}", file=sys.stderr)
    return False


def play_out(
    spec: LeagueSpec,
    folder: Folder,
    display: flags.Display | None,
    *,
    json: bool,
    open_browser: bool = False,
) -> None:
    """Play a league, from its beginning or from where it stopped, and show how it ended."""
    screen = choose_screen("none" if json and display is None else display)
    greeting = Greeting(with_banner=not json and display != "none")
    observers = [greeting, BrowserOpener(), screen] if open_browser else [greeting, screen]
    league_run = launch(spec, folder, *observers)
    if not json:
        _print_conclusion(league_run)
        return keep_showing(league_run) if open_browser else None
    season = league_run.season
    if len(season.results) != season.played:  # after a resume only the latest are in memory
        season = folder.load_season(season.settings.league_id, whole=True)
    return print_json(build_season_document(season, league_run.seconds))


@dataclass
class Greeting(Observer):
    """Says what is going to be played, and how to take the open seats if there are any."""

    with_banner: bool

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        lines = _list_banner(league_run) if self.with_banner else []
        seats = _count_open_seats(league_run)
        if seats > 0:
            waits = "1 seat waits for a guest" if seats == 1 else f"{seats} seats wait for guests"
            steps = [f"    {step}" for step in list_join_steps(league_run.url)]
            lines += [f"  {waits}:", *steps, ""]
        if lines:
            print(*lines, sep="\n", file=sys.stderr, flush=True)


def _count_open_seats(league_run: LeagueRun) -> int:
    """Return how many seats nobody has taken who is not one of our own players."""
    season, own = league_run.season, {player.agent_id for player in league_run.spec.players}
    if season.stage is not Stage.REGISTRATION:
        return 0
    others = [entry for entry in season.roster.of(Role.PLAYER) if entry.agent_id not in own]
    return (season.settings.awaited_players or 0) - len(own) - len(others)


def _list_banner(league_run: LeagueRun) -> list[str]:
    spec, settings = league_run.spec, league_run.spec.settings
    players = format_count(settings.awaited_players or 0, "player")
    numbers = f"{players}   {format_count(len(spec.referees), 'referee')}   seed {settings.seed}"
    return [
        f"  Agent League   {settings.game_type}   {numbers}",
        f"  pages   {league_run.url.removesuffix('mcp')}   (Ctrl-C stops everything)",
        "",
    ]


def _print_conclusion(league_run: LeagueRun) -> None:
    season = league_run.season
    show_standings(season)
    lost = season.tally["TECHNICAL_LOSS"]
    counts = format_count(season.played, "match"), format_count(lost, "technical loss")
    totals = f"[{', '.join(counts)}, {league_run.seconds:.1f} s]"
    # On a terminal it is broken between words; a program reads it as one line.
    line = Text(f"\n{format_champion(season)}   {totals}", style="bold")
    show(line, soft_wrap=not sys.stdout.isatty())
    if not league_run.folder.is_in_memory:
        print(f"Data: {league_run.folder.name}", file=sys.stderr)
    print_next_steps(list_steps_after_play(league_run.spec, league_run.folder))


def resume(
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    store: flags.StoreAddress = None,
    durability: flags.Durability | None = None,
    display: flags.Display | None = None,
    json: flags.Json = False,
    port_base: Annotated[flags.PortBase, Parameter(alias="--port")] = None,
) -> None:
    """Go on with a league where it stopped: same ids, same tokens, finished matches stay.

    It goes on as it was begun: with its store, its ports and its durability, where no flag says
    otherwise.
    """
    folder, row = Folder(shared, store, durability or "power").find_resumable(league)
    if row.ended:
        return _print_ended_league(row.league_id, folder, json=json)
    settings = LeagueSettings.read(row.settings)
    spec = folder.load_spec(row.league_id) or LeagueSpec(settings)
    folder = replace(folder, durability=durability or spec.durability)
    spec = spec if port_base is None else spec.with_ports(port_base)
    if spec.is_manager_only:
        return run_manager(folder.save_spec(replace(spec, settings=settings)), folder)
    if not spec.players and not json:
        return run_for_others(spec, folder, choose_screen(display))
    return play_out(spec, folder, display, json=json)


def _print_ended_league(league_id: str, folder: Folder, *, json: bool) -> None:
    season = folder.load_season(league_id, whole=json)
    if json:
        return print_json(build_season_document(season, 0.0))
    print(f"{league_id} is over: there is nothing to resume.", file=sys.stderr)
    print_final_standings(season)
    where = make_flags(folder)
    export, replay = f"league export {league_id}", f"league replay R1M1 {league_id}"
    return print_next_steps({f"{export}{where}": "", f"{replay}{where}": ""})
