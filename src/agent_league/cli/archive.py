"""`league replay`, `league log`, `league export`: what a league has left behind."""

import asyncio
import csv
import json as json_module
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from agent_league.cli.endings import UsageError
from agent_league.cli.folder import SHARED, Folder, StoreAddress
from agent_league.cli.report import season_document
from agent_league.cli.terms import Switch
from agent_league.hosting import run
from agent_league.league import LeagueSettings
from agent_league.league.season import Season
from agent_league.protocol.fields import moment
from agent_league.sdk import export as export_files
from agent_league.store import Event
from agent_league.store.events import FarewellSaid
from agent_league.store.log import LeagueRow, Store, Stored

LOOK_AGAIN = 0.5
"""Seconds after which somebody who follows a log is shown what is new."""
Format = Literal["files", "json", "csv", "jsonl"]
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute."""


def replay(
    match: str,
    /,
    *,
    league: str | None = None,
    shared: Path = SHARED,
    store: StoreAddress = None,
    json: Switch = False,
) -> None:
    """Show a match message by message, with the times.

    Parameters
    ----------
    match
        The match, such as R1M1.
    league
        The league; the latest, if not given.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    json
        Print one JSON document with every message in full.
    """
    folder = Folder(shared, store)
    row = named(folder, league)
    entries = run(_transcript(folder, row.league_id, match))
    if json:
        told = {"schema_version": 1, "league_id": row.league_id, "match_id": match}
        print(json_module.dumps({**told, "messages": entries}, indent=2))
        return
    begun = moment(entries[0]["at"])
    for entry in entries:
        offset = (moment(entry["at"]) - begun).total_seconds() * 1000
        print(f"{offset:8.0f} ms  {entry['from']:>14} -> {entry['to']:<14} {_said(entry)}")


async def _transcript(folder: Folder, league_id: str, match: str) -> list[dict[str, Any]]:
    async with folder.store() as store:
        found = await store.transcript(league_id, match) if store else None
    try:
        entries = msgspec.json.decode(found or "[]", type=list[dict[str, Any]])
    except msgspec.DecodeError as error:  # a referee may report what it likes
        raise UsageError(f"what was said in {match} was reported as nonsense: {error}") from error
    if not entries:
        hint = "league log shows which matches were played"
        raise UsageError(f"nothing is known of what was said in {match}", hint)
    return entries


ENVELOPE = {"protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token"}


def _said(entry: dict[str, Any]) -> str:
    if "error" in entry:
        return f"no answer: {entry['error']}"
    if "cut" in entry:
        return f"too long to be kept: {entry['cut'][:100]}"
    message = entry["message"]
    fields = {key: value for key, value in message.items() if key not in ENVELOPE}
    return f"{message.get('message_type', 'ok')} {json_module.dumps(fields)[:160]}"


def log(
    league: str | None = None,
    /,
    *,
    grep: str = "",
    follow: Switch = False,
    shared: Path = SHARED,
    store: StoreAddress = None,
) -> None:
    """Show what happened in a league, event by event.

    Parameters
    ----------
    league
        The league; the latest, if not given.
    grep
        Only the lines that match this pattern.
    follow
        Go on with what happens, until the season ends.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    """
    folder = Folder(shared, store)
    wanted = _pattern(grep)
    run(_logged(folder, named(folder, league).league_id, wanted, follow=follow))


def _pattern(grep: str) -> re.Pattern[str]:
    try:
        return re.compile(grep)
    except re.error as error:
        hint = f"to find it as it is written: --grep '{re.escape(grep)}'"
        raise UsageError(f"--grep {grep}: {error}", hint) from None


async def _logged(folder: Folder, league_id: str, wanted: re.Pattern[str], *, follow: bool) -> None:
    async with folder.store() as store:
        if store is None:
            return
        async for stored in _events(store, league_id, follow=follow):
            fields: dict[str, Any] = msgspec.to_builtins(stored.event)
            at, kind = fields.pop("at"), fields.pop("event")
            line = f"{stored.seq:>7} {at} {kind:<16} {json_module.dumps(fields)}"
            if wanted.search(line):
                print(line, flush=True)


async def _events(store: Store, league_id: str, *, follow: bool) -> AsyncIterator[Stored]:
    """Yield what happened, and, for one who follows, what happens until the season ends."""
    after, ended = 0, False
    while True:
        async for page in store.events(league_id, after):
            for stored in page:
                yield stored
                after = stored.seq
                ended = ended or isinstance(stored.event, FarewellSaid)
        if not follow or ended:
            return
        await asyncio.sleep(LOOK_AGAIN)  # another process writes; a file cannot wake us


def export(
    league: str | None = None,
    /,
    *,
    format: Format = "files",  # noqa: A002 - the flag's name
    shared: Path = SHARED,
    store: StoreAddress = None,
) -> None:
    """Write a league out: its files anew, or one document on stdout.

    Parameters
    ----------
    league
        The league; the latest, if not given.
    format
        files: the data folder, made again from the events; json, csv or jsonl: to stdout.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    """
    folder = Folder(shared, store)
    row = named(folder, league)
    settings = LeagueSettings.read(row.settings)
    events = run(_all(folder, row.league_id))
    _EXPORTS[format](events, settings, shared)


async def _all(folder: Folder, league_id: str) -> list[Event]:
    async with folder.store() as store:
        if store is None:
            return []
        return [stored.event async for page in store.events(league_id) for stored in page]


def _as_files(events: list[Event], settings: LeagueSettings, shared: Path) -> None:
    export_files(events, shared, settings)
    print(f"wrote {shared / 'data'}", file=sys.stderr)


def _season(events: list[Event], settings: LeagueSettings) -> Season:
    season = Season(settings)
    for event in events:
        season.apply(event)
    return season


def _as_json(events: list[Event], settings: LeagueSettings, shared: Path) -> None:
    print(json_module.dumps(season_document(_season(events, settings), 0.0), indent=2))


def _as_csv(events: list[Event], settings: LeagueSettings, shared: Path) -> None:
    told = season_document(_season(events, settings), 0.0)
    rows = csv.DictWriter(sys.stdout, list(told["matches"][0]) if told["matches"] else [])
    rows.writeheader()
    rows.writerows({key: cell(value) for key, value in row.items()} for row in told["matches"])


def cell(value: Any) -> str:
    """Return *value* as a cell; text that a spreadsheet would take for a formula is quoted."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json_module.dumps(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def _as_jsonl(events: list[Event], settings: LeagueSettings, shared: Path) -> None:
    for event in events:
        print(msgspec.json.encode(event).decode())


_EXPORTS = {"files": _as_files, "json": _as_json, "csv": _as_csv, "jsonl": _as_jsonl}


def named(folder: Folder, league: str | None) -> LeagueRow:
    """Return the league that was named, or the latest one."""
    rows = folder.leagues()
    found = [row for row in rows if league in (None, row.league_id)]
    if not found:
        known = ", ".join(row.league_id for row in rows) or "none"
        wanted = f"no league {league!r}" if league else "no league"
        raise UsageError(f"there is {wanted} here", f"there are: {known}")
    return found[-1]
