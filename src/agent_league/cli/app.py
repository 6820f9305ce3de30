"""The command line as a whole: its commands, its help, and the environment as a source of options."""

import sys
from collections.abc import Collection
from importlib.metadata import version
from typing import Annotated, Any, Literal

from cyclopts import App, Group, Parameter
from cyclopts.config import Env

from agent_league.cli import VERSION_FLAGS, check_command
from agent_league.cli.commands import (
    ALIASES,
    APPS,
    COMMANDS,
    GROUPS,
    format_examples,
    format_usage,
    locate,
)

Shell = Literal["bash", "zsh", "fish", "powershell"]
EPILOGUE = """\
LEAGUE, where a command takes it, is the id, the address or the folder of a
league; by default the latest. Options can be set in the environment too:
LEAGUE_PLAY_PLAYERS=8 is the same as league play --players 8."""


class _Environment(Env):
    """Reads LEAGUE_MCP_BRIDGE_LEAGUE for mcp-bridge: no shell can set a name with a hyphen."""

    def __call__(self, app: App, commands: tuple[str, ...], arguments: Any) -> None:
        super().__call__(app, tuple(name.replace("-", "_") for name in commands), arguments)


class _HelpFormatter:
    """Formats help as `help_pages` does, which is imported when help is asked for."""

    def __call__(self, console: Any, options: Any, panel: Any) -> None:
        from agent_league.cli.help_pages import format_panel  # noqa: PLC0415 - see above

        format_panel(console, panel)

    def render_usage(self, console: Any, options: Any, usage: Any) -> None:
        console.print(f"Usage: {str(usage).strip()}\n", highlight=False, markup=False)

    def render_description(self, console: Any, options: Any, description: Any) -> None:
        from agent_league.cli.help_pages import format_description  # noqa: PLC0415 - see above

        format_description(console, description)


def make_app(in_full: Collection[str] = ()) -> App:
    """Return the command line; only the commands *in_full* show more than their one line in help.

    The others are imported when they are called.
    """
    app = App(
        name="league",
        help="Competitions between agents that meet only in messages.",
        help_epilogue=EPILOGUE,
        help_format="plaintext",
        help_formatter=_HelpFormatter(),
        version=lambda: version("agent-league"),
        version_flags=VERSION_FLAGS,
        config=_Environment("LEAGUE_", command=True, show=False),
        suppress_keyboard_interrupt=False,
        exit_on_error=False,
        print_error=False,
    )
    for number, (title, commands) in enumerate(GROUPS.items()):
        group = Group(title, sort_key=number)
        for place, (name, line) in enumerate(commands.items()):
            about = {} if name in in_full else {"help": line}
            if name not in APPS:
                about |= {"help_epilogue": format_examples(name), "usage": format_usage(name)}
            names = (name, *ALIASES.get(name, ()))
            app.command(locate(name), name=names, group=group, sort_key=place, **about)
    options = Group("Options", sort_key=len(GROUPS))
    for flag in ("--help", "--version"):
        app[flag].group = (options,)
    return app


def show_help(*command: str) -> None:
    """Show the help of a command, or of all.

    Parameters
    ----------
    command
        The command, such as play.
    """
    check_command(command)
    make_app(command[:1]).help_print(command)


def completion(
    shell: Annotated[Shell | None, Parameter(help="The shell; by default the one in use.")] = None,
    *,
    install: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Print the completion script of a shell, or install it.

    Parameters
    ----------
    install
        Write the script where the shell finds it, instead of printing it.
    """
    app = make_app(COMMANDS)
    if not install:
        print(app.generate_completion(shell=shell))
        return
    print(f"installed {app.install_completion(shell=shell)}", file=sys.stderr)
