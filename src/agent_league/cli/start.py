"""`league init`, `league start`, `league manager`: a league for other people's agents."""

import asyncio
import sys
from dataclasses import replace
from functools import partial
from typing import Annotated

from agent_league.cli import league_options as flags
from agent_league.cli.console import print_next_steps
from agent_league.cli.gate import read_gate, read_networks
from agent_league.cli.launch import TokenPrinter, launch, list_join_steps
from agent_league.cli.next_steps import list_steps_after_class
from agent_league.cli.report import format_champion, print_final_standings
from agent_league.cli.screens import PlainScreen, choose_screen
from agent_league.cli.which_league import complete_endpoint
from agent_league.files.config_files import DEFAULT_LEAGUE
from agent_league.files.config_files import init as write_config
from agent_league.printable import format_count
from agent_league.protocol import Role
from agent_league.running.folder import SHARED, Folder
from agent_league.running.league_run import LeagueRun, Observer
from agent_league.running.lineup import ConfigFiles
from agent_league.running.specs import LeagueSpec
from agent_league.running.standby import lead_in_turn
from agent_league.season.season import Stage
from agent_league.season.settings import LeagueSettings


def init(league_id: str = DEFAULT_LEAGUE, /, *, shared: flags.Shared = SHARED) -> None:
    """Write the configuration files of a league, and leave those alone that are there.

    Parameters
    ----------
    league_id
        The id of the league.
    """
    new_files = write_config(shared, league_id)
    for path in new_files:
        print(path)
    where = "" if shared == SHARED else f" --shared {shared}"
    commands = {
        f"league play{where}": "play a league on this machine",
        f"league start {league_id}{where}": "wait for agents that others wrote",
    }
    summary = f"Wrote {len(new_files)} files" if new_files else "Every file is there already"
    print(f"{summary} ({shared / 'config'}).", file=sys.stderr)
    print_next_steps(commands)


def start(
    league_id: flags.LeagueId = None,
    *,
    players: flags.Players | None = None,
    referees: flags.Referees | None = None,
    terms: flags.ManagedTerms = flags.MANAGED_TERMS,
    port_base: flags.PortBase = None,
    host: flags.Host = None,
    new: flags.New = False,
    kept: flags.Kept = flags.KEPT,
    seen: flags.Seen = flags.SEEN,
) -> None:
    """Open a league with referees of its own, and wait for players.

    It begins when enough players have registered, or when you press Enter. A league of that id
    that has not ended goes on, unless you ask for a new one.
    """
    files, folder = ConfigFiles(kept.shared), kept.open_folder()
    base = _make_settings(files, league_id, terms, awaited_players=players)
    agents = files.choose_agents(Role.REFEREE, base.game_type, referees, port_base)
    spec = LeagueSpec(
        replace(base, awaited_referees=len(agents)),
        agents,
        port_base=files.manager_port if port_base is None else port_base,
        host=host or files.host,
        networks=read_networks(terms.networks),
        issuer=terms.issuer,
        **vars(seen),
    )
    run_for_others(_open(spec, folder, new=new), folder, choose_screen(None))


def _make_settings(
    files: ConfigFiles, league_id: str | None, terms: flags.ManagedTerms, **awaited: int | None
) -> LeagueSettings:
    """Return the settings of a league with *terms* that waits for so many agents."""
    given = vars(terms) | read_gate(terms.join_code, terms.roster) | awaited
    chosen = {name: given[name] for name in given if name not in {"roster", "networks", "issuer"}}
    return files.make_settings(league_id, chosen.pop("seed"), **chosen)


def _open(spec: LeagueSpec, folder: Folder, *, new: bool) -> LeagueSpec:
    """Return the league that goes on, or the new one, and say which it is if that is a surprise."""
    wanted, earlier = spec.settings.league_id, {row.league_id: row for row in folder.list_leagues()}
    opened = folder.open_spec(spec, new=new)
    league_id = opened.settings.league_id
    if league_id in earlier:
        played = f"{format_count(earlier[league_id].matches, 'match')} played"
        lines = [
            f"{league_id} has not ended ({played}): it goes on, with the settings that it has.",
            "For a new league instead: --new",
        ]
    elif league_id != wanted:
        state = "has ended" if earlier.get(wanted) and earlier[wanted].ended else "is taken"
        lines = [
            f"{wanted} {state}; this new league is {league_id}.",
            f"Agents that name their league join it with: --league-id {league_id}",
        ]
    else:
        lines = []
    for line in lines:
        print(line, file=sys.stderr)
    return opened


def run_for_others(spec: LeagueSpec, folder: Folder, screen: Observer) -> None:
    """Run a league with referees of ours and players of others, and show how it ended."""
    print_final_standings(launch(spec, folder, Invitation(), TokenPrinter(), screen).season)
    print_next_steps(list_steps_after_class(spec.settings.league_id, folder))


class Invitation(Observer):
    """Says how to join, and starts the league when somebody presses Enter."""

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        self._manager, season = league_run.manager, league_run.season
        if season.stage is not Stage.REGISTRATION:
            print(_describe_course(league_run), file=sys.stderr)
            return
        print(*_list_invitation(league_run), sep="\n", file=sys.stderr)
        if sys.stdin.isatty():
            print("  now:   press Enter", file=sys.stderr)
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._start_now)

    def _start_now(self) -> None:
        sys.stdin.readline()
        manager = self._manager
        if manager.season_runner.start_now():
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        else:
            here = len(manager.season.roster.of(Role.PLAYER))
            needed = manager.settings.min_players
            joined = format_count(here, "player")
            print(f"{joined} joined so far; it takes {needed}.", file=sys.stderr)


def _list_invitation(league_run: LeagueRun) -> list[str]:
    url, season = league_run.url, league_run.season
    awaited, here = season.settings.awaited_players, len(season.roster.of(Role.PLAYER))
    begins = f"when {awaited} players have joined" if awaited else "when you say so"
    joined = f" ({here} so far)" if here else ""
    return [
        f"Registration is open at {url}; the league begins {begins}{joined}.",
        f"  join:  league player {url} --port 8101 --name NAME",
        *(f"  guest: {step}" for step in list_join_steps(url)),
    ]


def _describe_course(league_run: LeagueRun) -> str:
    season, url = league_run.season, league_run.url
    played = f"{format_count(season.played, 'match')} played"
    course = f"round {season.round_id} of {season.total_rounds}, {played}"
    return f"{season.settings.league_id} goes on at {url}: {course}."


def manager(
    league_id: flags.LeagueId = None,
    *,
    port: flags.Port = None,
    players: flags.Players = 4,
    referees: Annotated[int, flags.between(1)] = 1,
    terms: flags.ManagedTerms = flags.MANAGED_TERMS,
    host: flags.Host = None,
    endpoint: flags.Endpoint = None,
    new: flags.New = False,
    kept: flags.Kept = flags.KEPT,
    standby: flags.Standby = False,
    seen: flags.Seen = flags.SEEN,
) -> None:
    """Run a league manager alone; it begins when enough players and referees have registered.

    A league of that id that has not ended goes on, unless you ask for a new one.

    Parameters
    ----------
    referees
        How many referees to wait for.
    """
    files, folder = ConfigFiles(kept.shared), kept.open_folder()
    awaited = {"awaited_players": players, "awaited_referees": referees}
    spec = LeagueSpec(
        _make_settings(files, league_id, terms, **awaited),
        port_base=files.manager_port if port is None else port,
        host=host or files.host,
        endpoint=endpoint and complete_endpoint(endpoint),
        networks=read_networks(terms.networks),
        issuer=terms.issuer,
        **vars(seen),
    )
    (_run_in_turn if standby else run_manager)(_open(spec, folder, new=new), folder)


def _run_in_turn(spec: LeagueSpec, folder: Folder) -> None:
    """Run the manager of a league whenever no other one does."""
    say = partial(print, file=sys.stderr, flush=True)
    lead_in_turn(spec, folder, partial(run_manager, folder=folder), say)


def run_manager(spec: LeagueSpec, folder: Folder) -> None:
    """Run the manager of a league, which goes on where it stopped if the folder has it."""
    league_run = launch(spec, folder, TokenPrinter(), WaitingNotice(), PlainScreen())
    print(format_champion(league_run.season))
    print_next_steps(list_steps_after_class(spec.settings.league_id, folder))


class WaitingNotice(Observer):
    """Says where the manager waits for players, or goes on."""

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        awaited = league_run.season.settings.awaited_players
        line = f"Waiting for {awaited} players at {league_run.url}"
        if league_run.season.stage is not Stage.REGISTRATION:
            line = _describe_course(league_run)
        print(line, file=sys.stderr)
