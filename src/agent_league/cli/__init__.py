"""The command `league`: one module per group of commands, each imported only when it is asked for."""

import signal
import sys
from collections.abc import Sequence

from agent_league.cli.streams import abandon_stdout, prepare_streams

VERSION_FLAGS = ("--version", "-V")
HELP_FLAGS = frozenset({"--help", "-h"})
STARTS_AGENTS = frozenset({"play", "resume", "start"})
"""The commands that start processes: the server of these imports while the command does."""


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command line, or *tokens* instead; every error ends as a sentence and an exit code."""
    prepare_streams()
    if sys.stdout is None:
        print("error: nothing can be printed: stdout is closed", file=sys.stderr)
        print("hint: send it to a file, or to /dev/null", file=sys.stderr)
        sys.exit(3)
    try:
        _run(sys.argv[1:] if tokens is None else tokens)
    except BrokenPipeError:  # the reader has read enough
        abandon_stdout()
        sys.exit(0)
    finally:
        _ignore_ctrl_c()


def _run(tokens: Sequence[str]) -> None:
    try:
        try:
            _call(tokens)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - here every command ends
        _ignore_ctrl_c()
        from agent_league.cli.exit_codes import report_error  # noqa: PLC0415 - rarely needed

        sys.exit(report_error(error, tokens))


def _call(tokens: Sequence[str]) -> None:
    if len(tokens) == 1 and tokens[0] in VERSION_FLAGS:
        from importlib.metadata import version  # noqa: PLC0415 - rarely needed

        print(version("agent-league"))
        return
    check_command(tokens)
    if tokens and tokens[0] in STARTS_AGENTS and not HELP_FLAGS.intersection(tokens):
        from agent_league.running.fork_server import start_fork_server  # noqa: PLC0415 - rarely needed

        start_fork_server()
    from agent_league.cli.app import make_app  # noqa: PLC0415 - the version does without it

    make_app(tokens[:1])(tokens)


def check_command(tokens: Sequence[str]) -> None:
    """Raise `UsageError` if the first word is no command: that takes none of them to be imported."""
    from agent_league.cli.commands import ALIASES, COMMANDS  # noqa: PLC0415 - the version does without

    known = [*COMMANDS, *(name for names in ALIASES.values() for name in names)]
    if not tokens or tokens[0].startswith("-") or tokens[0] in known:
        return
    from difflib import get_close_matches  # noqa: PLC0415 - rarely needed

    from agent_league.running.errors import UsageError  # noqa: PLC0415 - rarely needed

    close = get_close_matches(tokens[0], known, 1)
    hint = f"did you mean league {close[0]}? " if close else ""
    raise UsageError(f"there is no command {tokens[0]!r}", f"{hint}league --help lists all")


def _ignore_ctrl_c() -> None:
    """Let the command end as it is about to: there is nothing left to interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
