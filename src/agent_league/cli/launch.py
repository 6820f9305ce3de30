"""Runs a league for a command, and shows on stderr how it goes."""

import shlex
import sys

from agent_league.cli.program import localise
from agent_league.cli.unread import interrupt_when_unread
from agent_league.cli.warning_digest import digest_warnings
from agent_league.running.folder import SHARED, Folder
from agent_league.running.league_run import LeagueRun, Observer, run_league
from agent_league.running.specs import LeagueSpec

JOIN_PROMPT = "Join the league as Claude and play until it is over."


def launch(spec: LeagueSpec, folder: Folder, *observers: Observer) -> LeagueRun:
    """Run a league to its end; if it is interrupted, show the command that resumes it."""
    try:
        with interrupt_when_unread(), digest_warnings():
            return run_league(spec, folder, *observers)
    except KeyboardInterrupt:
        if not folder.is_in_memory:
            command = make_resume_command(spec.settings.league_id, folder)
            print(f"\nStopped. Go on with: {command}", file=sys.stderr)
        raise


def make_resume_command(league_id: str, folder: Folder) -> str:
    return localise(f"league resume {league_id}{make_flags(folder)}")


def make_flags(folder: Folder) -> str:
    """Return the flags that make a command look in *folder*."""
    shared, address = folder.shared, folder.public_address
    shared_flag = "" if shared == SHARED else f" --shared {shlex.quote(str(shared))}"
    return shared_flag + (f" --store {shlex.quote(address)}" if address else "")


def list_join_steps(url: str) -> list[str]:
    """Return the command that adds a league to Claude Code, and what to tell it then."""
    return [f"claude mcp add --transport http league {url}", f'then say: "{JOIN_PROMPT}"']


class TokenPrinter(Observer):
    """Shows the organiser's token of a new league, this once."""

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        if organiser_token is not None:
            print(f"The organiser's token, shown only now: {organiser_token}", file=sys.stderr)
