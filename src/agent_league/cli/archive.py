"""`league replay`, `league log`, `league export`, `league grade`: what a league has stored."""

import asyncio
import json as json_module
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Literal

import msgspec

from agent_league import grading
from agent_league.cli import league_options as flags
from agent_league.cli.console import print_csv, print_document, print_json
from agent_league.cli.report import build_season_document
from agent_league.cli.unread import interrupt_when_unread
from agent_league.cli.which_league import find_stored
from agent_league.files import export as export_files
from agent_league.printable import make_printable
from agent_league.protocol.fields import parse_time
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.season import answers
from agent_league.season.match_rows import MATCH_COLUMNS, make_match_row
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store import Event
from agent_league.store.chain import hide_secrets
from agent_league.store.events import (
    AgentDisqualified,
    AgentReinstated,
    FarewellSaid,
    MatchEnded,
    ViolationNoted,
)
from agent_league.store.log import StoredEvent, apply_events
from agent_league.store.record import write_record
from agent_league.store.store import LeagueRow, Store

POLL_SECONDS = 0.5
"""Seconds between two looks for new events."""
Format = Literal["files", "json", "csv", "jsonl", "record"]
ENVELOPE = {"protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token"}


def replay(
    match: flags.Match,
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Show a match message by message, with the times."""
    folder, row = find_stored(league, Folder(shared, store))
    league_id = row.league_id
    entries = run(_read_transcript(folder, league_id, match))
    void = answers.describe_void(folder.load_season(league_id), match)
    if json:
        return print_document(league_id=league_id, match_id=match, **void, messages=entries)
    if void:
        instead = f", and was played again as {void['replayed_as']}" if void["replayed_as"] else ""
        reason = make_printable(void["void_reason"])
        print(f"{match} is void: {reason}{instead}", file=sys.stderr)
    started_at = parse_time(entries[0]["at"])
    for entry in entries:
        offset = (parse_time(entry["at"]) - started_at).total_seconds() * 1000
        line = f"{entry['from']:>14} -> {entry['to']:<14} {_format_entry(entry)}"
        print(f"{offset:8.0f} ms  {make_printable(line)}")
    return None


async def _read_transcript(folder: Folder, league_id: str, match: str) -> list[dict[str, Any]]:
    async with folder.read_store() as store:
        transcript = await store.transcript(league_id, match)
    try:
        entries = msgspec.json.decode(transcript or "[]", type=list[dict[str, Any]])
    except msgspec.DecodeError as error:  # a referee may report what it likes
        raise UsageError(f"the transcript of {match} cannot be read: {error}") from error
    if not entries:
        hint = "league log shows which matches were played"
        raise UsageError(f"there is no transcript of {match}", hint)
    return entries


def _format_entry(entry: dict[str, Any]) -> str:
    if "error" in entry:
        return f"no answer: {entry['error']}"
    if "cut" in entry:
        return f"too long to be kept: {entry['cut'][:100]}"
    message = entry["message"]
    fields = {key: value for key, value in message.items() if key not in ENVELOPE}
    return f"{message.get('message_type', 'ok')} {json_module.dumps(fields)[:160]}"


def log(
    league: flags.League = None,
    *,
    grep: str = "",
    follow: flags.Switch = False,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
) -> None:
    """Show what happened in a league, event by event.

    Parameters
    ----------
    grep
        Only the lines that match this pattern.
    follow
        Go on with what happens, until the season ends.
    """
    try:
        pattern = re.compile(grep)
    except re.error as error:
        hint = f"to find it as it is written: --grep '{re.escape(grep)}'"
        raise UsageError(f"--grep {grep}: {error}", hint) from None
    folder, row = find_stored(league, Folder(shared, store))
    with interrupt_when_unread() if follow else nullcontext():
        run(_print_events(folder, row.league_id, pattern, follow=follow))


async def _print_events(
    folder: Folder, league_id: str, pattern: re.Pattern[str], *, follow: bool
) -> None:
    async with folder.read_store() as store:
        async for stored in _read_events(store, league_id, follow=follow):
            fields = hide_secrets(msgspec.to_builtins(stored.event))
            at, kind = fields.pop("at"), fields.pop("event")
            line = f"{stored.seq:>7} {at} {kind:<16} {json_module.dumps(fields)}"
            if pattern.search(line):
                print(line, flush=True)


async def _read_events(
    store: Store, league_id: str, *, follow: bool = False
) -> AsyncIterator[StoredEvent]:
    """Yield the events so far, and with *follow* those to come until the season ends."""
    after, ended = 0, False
    while True:
        async for page in store.events(league_id, after):
            for stored in page:
                yield stored
                after = stored.seq
                ended = ended or isinstance(stored.event, FarewellSaid)
        if not follow or ended:
            return
        await asyncio.sleep(POLL_SECONDS)  # another process writes; a file cannot wake us


def export(
    league: flags.League = None,
    *,
    format: Format = "files",  # noqa: A002 - the flag's name
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
) -> None:
    """Export a league: write its files again, or print one document.

    Parameters
    ----------
    format
        files: write the data folder again from the events; json, csv, jsonl or record (for
        league verify elsewhere): print to stdout.
    """
    _EXPORTS[format](*find_stored(league, Folder(shared, store)))


async def _read_all_events(folder: Folder, league_id: str) -> list[Event]:
    async with folder.read_store() as store:
        return [stored.event async for stored in _read_events(store, league_id)]


def _write_files(folder: Folder, row: LeagueRow) -> None:
    events = run(_read_all_events(folder, row.league_id))
    export_files(events, folder.shared, LeagueSettings.read(row.settings))
    print(f"wrote {folder.shared / 'data'}", file=sys.stderr)


def _build_document(folder: Folder, row: LeagueRow) -> dict[str, Any]:
    return build_season_document(folder.load_season(row.league_id, whole=True), 0.0)


def _print_matches(folder: Folder, row: LeagueRow) -> None:
    season = folder.load_season(row.league_id, whole=True)
    rows = [
        make_match_row(season, season.results[one])
        for one in season.matches
        if one in season.results
    ]
    print_csv(MATCH_COLUMNS, rows, "\r\n")


def _print_jsonl(folder: Folder, row: LeagueRow) -> None:
    for event in run(_read_all_events(folder, row.league_id)):
        fields = hide_secrets(msgspec.to_builtins(event))
        print(make_printable(msgspec.json.encode(fields).decode()))


def _print_record(folder: Folder, row: LeagueRow) -> None:
    async def print_lines() -> None:
        async with folder.read_store() as store:
            async for line in write_record(store, row.league_id):
                print(line.decode(), end="")

    run(print_lines())


_EXPORTS: Mapping[Format, Callable[[Folder, LeagueRow], None]] = {
    "files": _write_files,
    "json": lambda folder, row: print_json(_build_document(folder, row)),
    "csv": _print_matches,
    "jsonl": _print_jsonl,
    "record": _print_record,
}


def grade(
    league: flags.League = None,
    *,
    rubric: Path | None = None,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Print the grades of a stored league, as CSV.

    Parameters
    ----------
    rubric
        A JSON file that says how places become points, if not as the assignment does.
    """
    chosen_rubric = _read_rubric(rubric) if rubric else grading.Rubric()
    folder, row = find_stored(league, Folder(shared, store))
    if not row.ended:
        print(f"{row.league_id} has not ended; these are its grades so far.", file=sys.stderr)
    season, conducts = run(_read_season(folder, row))
    rows = [asdict(one) for one in grading.grade_players(season, conducts, chosen_rubric)]
    if json:
        rules = msgspec.to_builtins(chosen_rubric)
        print_document(league_id=row.league_id, rubric=rules, grades=rows)
    else:
        print_csv([column.name for column in fields(grading.Grade)], rows, "\n")


def _read_rubric(path: Path) -> grading.Rubric:
    try:
        return msgspec.json.decode(path.read_bytes(), type=grading.Rubric)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} is not a rubric: {error}",
            'as in {"places": [[1, 100], [3, 90]], "otherwise": 50}',
        ) from error


async def _read_season(folder: Folder, row: LeagueRow) -> tuple[Season, dict[str, grading.Conduct]]:
    """Return the season, and how everybody behaved in it."""
    season = Season(LeagueSettings.read(row.settings))
    conducts: dict[str, grading.Conduct] = {}
    async with folder.read_store() as store:
        stored_events = [stored async for stored in _read_events(store, row.league_id)]
        apply_events(stored_events, lambda stored: season.apply(stored.event))
        for _, event, _ in stored_events:
            if getattr(event, "match_id", None) in season.voided:
                continue  # what happened in a void match counts for nobody
            match event:
                case MatchEnded() as ended:
                    transcript = await store.transcript(row.league_id, ended.match_id)
                    grading.note_match(conducts, ended, _parse_entries(transcript))
                case ViolationNoted() as violation:
                    grading.note_violation(conducts, violation)
                case AgentDisqualified() as disqualification:
                    grading.note_disqualification(conducts, disqualification)
                case AgentReinstated():
                    grading.note_reinstatement(conducts, event)
    return season, conducts


def _parse_entries(transcript: str | None) -> list[grading.TranscriptEntry]:
    try:
        return msgspec.json.decode(transcript or "[]", type=list[grading.TranscriptEntry])
    except msgspec.DecodeError:  # a referee may report what it likes; the result still counts
        return []
