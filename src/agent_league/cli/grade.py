"""`league grade`: what staff need of a league that was played, as a spreadsheet reads it."""

import csv
import json as json_module
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import msgspec

from agent_league.cli.archive import cell, named
from agent_league.cli.endings import UsageError
from agent_league.cli.folder import SHARED, Folder, StoreAddress
from agent_league.cli.report import SCHEMA_VERSION
from agent_league.cli.terms import Switch
from agent_league.grading import (
    Conduct,
    Entry,
    Grade,
    Rubric,
    grades,
    note,
    note_disqualification,
    note_violation,
)
from agent_league.hosting import run
from agent_league.league import LeagueSettings
from agent_league.league.season import Season
from agent_league.store.events import AgentDisqualified, MatchEnded, ViolationNoted
from agent_league.store.log import LeagueRow


def grade(
    league: str | None = None,
    /,
    *,
    rubric: Path | None = None,
    shared: Path = SHARED,
    store: StoreAddress = None,
    json: Switch = False,
) -> None:
    """Print the grades of a league that is kept, as CSV.

    Parameters
    ----------
    league
        The league; the latest, if not given.
    rubric
        A JSON file that says how places become points, if not as the assignment does.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    json
        Print one JSON document.
    """
    given = _read(rubric) if rubric else Rubric()
    folder = Folder(shared, store)
    row = named(folder, league)
    if not row.ended:
        print(f"{row.league_id} has not ended; these are its grades so far.", file=sys.stderr)
    season, conducts = run(_observed(folder, row))
    found = grades(season, conducts, given)
    if json:
        told = {"schema_version": SCHEMA_VERSION, "league_id": row.league_id}
        rules = msgspec.to_builtins(given)
        rows = [asdict(one) for one in found]
        print(json_module.dumps({**told, "rubric": rules, "grades": rows}, indent=2))
    else:
        write(found)


def _read(path: Path) -> Rubric:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Rubric)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a rubric: {error}", "see docs/grading.md") from error


async def _observed(folder: Folder, row: LeagueRow) -> tuple[Season, dict[str, Conduct]]:
    """Return the season, and how everybody behaved in it."""
    season = Season(LeagueSettings.read(row.settings))
    conducts: dict[str, Conduct] = {}
    async with folder.store() as kept:
        if kept is None:
            raise UsageError("nothing is kept in memory", "give a --store")
        async for page in kept.events(row.league_id):
            for stored in page:
                season.apply(stored.event)
                match stored.event:
                    case MatchEnded() as ended:
                        said = await kept.transcript(row.league_id, ended.match_id)
                        note(conducts, ended, _entries(said))
                    case ViolationNoted() as broken:
                        note_violation(conducts, broken)
                    case AgentDisqualified() as out:
                        note_disqualification(conducts, out)
    return season, conducts


def _entries(said: str | None) -> list[Entry]:
    try:
        return msgspec.json.decode(said or "[]", type=list[Entry])
    except msgspec.DecodeError:  # a referee may report what it likes; the result still counts
        return []


def write(found: list[Grade]) -> None:
    """Print the grades as a spreadsheet reads them."""
    rows = csv.DictWriter(sys.stdout, [one.name for one in fields(Grade)], lineterminator="\n")
    rows.writeheader()
    rows.writerows({key: _cell(value) for key, value in asdict(one).items()} for one in found)


def _cell(value: Any) -> Any:
    return cell(value) if isinstance(value, str) else value
