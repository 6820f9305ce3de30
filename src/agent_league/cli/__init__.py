"""The command `league`: one module per command, each imported only when it is asked for."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from cyclopts import App
from cyclopts.config import Env

COMMANDS = {
    "play": "Play a whole league on this machine, and name the champion.",
    "resume": "Go on with a league where it stopped.",
    "leagues": "Show the leagues that a folder holds.",
    "replay": "Show a match message by message, with the times.",
    "log": "Show what happened in a league, event by event.",
    "export": "Write a league out: its files anew, or one document.",
    "new": "Write a starter: a player, a referee, a game or a strategy of your own.",
    "practice": "Let an agent that is running play against our strategies, and judge it.",
    "grade": "Print the grades of a league that was played, as CSV.",
    "init": "Write the configuration files of a league.",
    "start": "Open a league that waits for other people's agents.",
    "manager": "Run a league manager alone.",
    "referee": "Run one referee.",
    "player": "Run one player.",
    "status": "Show where a running league stands.",
    "standings": "Show the table of a running league.",
    "schedule": "Show who meets whom in a running league.",
    "stats": "Show one player's record in a running league.",
    "mcp": "Show, or call, the tools of every agent of a running league.",
    "mcp-bridge": "Bring a running league to MCP clients that have no HTTP.",
    "check": "Judge any agent from outside, rule by rule.",
    "schema": "Print the contract: JSON Schema of each message, OpenRPC or OpenAPI.",
}
_MODULES = {
    **dict.fromkeys(("manager", "referee", "player"), "agents"),
    "leagues": "resume",
    "mcp-bridge": "bridge",
    **dict.fromkeys(("replay", "log", "export"), "archive"),
    **dict.fromkeys(("status", "standings", "schedule", "stats"), "queries"),
}

app = App(
    name="league",
    help="Competitions between agents that meet only in messages.",
    version=lambda: version("agent-league"),
    config=Env("LEAGUE_", command=True),
    suppress_keyboard_interrupt=False,
)
_APPS = {"mcp": "app"}
"""Commands that have commands of their own."""
for _name, _help in COMMANDS.items():
    _name_there = _APPS.get(_name, _name.replace("-", "_"))
    _path = f"agent_league.cli.{_MODULES.get(_name, _name)}:{_name_there}"
    app.command(_path, name=_name, help=_help)


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command line, or *tokens* instead; every ending is a sentence and an exit code."""
    _stand_in_for_what_is_closed()
    if sys.stdout is None:
        print("error: nothing can be printed: stdout is closed", file=sys.stderr)
        print("hint: send it to a file, or to /dev/null", file=sys.stderr)
        sys.exit(3)
    try:
        try:
            app(tokens)
        finally:
            sys.stdout.flush()  # what is left to print may meet a closed pipe as well
    except BrokenPipeError:  # whoever read what we print has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - here every command ends
        from agent_league.cli.endings import ended_by  # noqa: PLC0415 - costs a quarter second

        sys.exit(ended_by(error, as_json="--json" in sys.argv))


def _stand_in_for_what_is_closed() -> None:
    """Let nothing else, such as a socket, become stdin, stdout or stderr where one was closed."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - the third of three
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stderr is None:  # to print there would mean stdout
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - till the end
