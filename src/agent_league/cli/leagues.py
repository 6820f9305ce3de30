"""`league leagues`: what a folder holds."""

import sys

from agent_league.cli import league_options as flags
from agent_league.cli.console import make_table, print_document, show
from agent_league.cli.program import localise
from agent_league.running.folder import SHARED, Folder


def leagues(
    *, shared: flags.Shared = SHARED, store: flags.KeptStore = None, json: flags.Json = False
) -> None:
    """Show the leagues that a folder holds."""
    rows = Folder(shared, store).list_leagues()
    cells = [(row.league_id, row.opened_at, row.matches, bool(row.ended)) for row in rows]
    if json:
        keys = ("league_id", "opened_at", "matches", "ended")
        return print_document(leagues=[dict(zip(keys, row, strict=True)) for row in cells])
    if not rows:
        print(
            f"{shared} holds no league yet. {localise('league play')} plays one.", file=sys.stderr
        )
    shown = [(*row, "ended" if ended else "unfinished") for *row, ended in cells]
    return show(make_table(("League", "Opened", "Matches", "State"), shown))
