"""`league backup` and `league restore`: all leagues of a folder or a store in one file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from agent_league.cli import league_options as flags
from agent_league.cli.console import print_document
from agent_league.cli.launch import make_flags
from agent_league.cli.program import localise
from agent_league.printable import format_count
from agent_league.running.backup import Copied, restore_backup, write_backup
from agent_league.running.folder import SHARED, Folder

File = Annotated[Path, Parameter(help="The file of the back-up.")]


def backup(
    file: File,
    *,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Write every league of a folder into one file, also while they are being played.

    It holds everything that was acknowledged when it was made: results, messages, keys, and the
    settings and identities of the folder. Whoever has it can act as the league: keep it private.
    It is a store like any other: `league standings --store FILE` reads it.
    """
    copied = write_backup(Folder(shared, store), file)
    if json:
        return print_document(file=str(file), leagues=copied.leagues, files=copied.files)
    return print(f"Wrote {file}: {_describe(copied)}")


def restore(
    file: File,
    *,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Put the leagues of a back-up into a folder, or into another kind of store.

    Nothing is overwritten: a league that is already there is refused. So a league also moves from
    a folder to PostgreSQL, or back: back it up, then restore it there.
    """
    folder = Folder(shared, store)
    copied = restore_backup(file, folder)
    if json:
        return print_document(file=str(file), leagues=copied.leagues, files=copied.files)
    print(f"Restored {file}: {_describe(copied)}")
    return print(f"next: {localise(f'league leagues{make_flags(folder)}')}")


def _describe(copied: Copied) -> str:
    events = sum(copied.leagues.values())
    counts = {"league": len(copied.leagues), "event": events, "file": copied.files}
    return ", ".join(format_count(number, noun) for noun, number in counts.items())
