"""`league report`: a league as a folder of pages, to keep and to hand on."""

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from agent_league.cli import league_options as flags
from agent_league.cli.which_league import find_stored
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.log import apply_events
from agent_league.store.store import LeagueRow
from agent_league.web.league_view import LeagueView
from agent_league.web.records import StoredRecords
from agent_league.web.report import Report, ReportRecords


def report(
    league: flags.League = None,
    *,
    out: Annotated[Path, Parameter(help="The folder to write.")] = Path("report"),
    open: flags.Open = False,  # noqa: A002 - the flag's name
    aliases: flags.Aliases = False,
    parquet: flags.Switch = False,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
) -> None:
    """Write the pages of a league as files that open from a disk, with its data and a poster.

    index.html is the first page; data/ holds the table and all matches as CSV and JSON, and every
    event and message as lines of JSON; poster.svg is the final table to share.

    Parameters
    ----------
    parquet
        Write the data as Parquet too, for data frames; this takes the extra parquet.
    """
    folder, row = find_stored(league, Folder(shared, store))
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file, and a report is a folder", "give another --out")
    try:
        files = run(_write_report(folder, row, out, aliases=aliases, parquet=parquet))
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    print(f"Wrote {files} files: {out / 'index.html'}", file=sys.stderr)
    if open:
        webbrowser.open((out / "index.html").resolve().as_uri())


async def _write_report(
    folder: Folder, row: LeagueRow, out: Path, *, aliases: bool, parquet: bool
) -> int:
    """Write the report of a league, and return how many files it has."""
    season = Season(LeagueSettings.read(row.settings))
    async with folder.read_store() as store:
        events = [stored async for page in store.events(row.league_id) for stored in page]
        apply_events(events, lambda stored: season.apply(stored.event))
        records = ReportRecords(events, StoredRecords(store, row.league_id))
        view = LeagueView(season, records, aliases=aliases)
        for stored in events:
            view.note(stored.seq, stored.event)
        report = Report(view, records, out, parquet=parquet)
        await report.write()
    return report.files
