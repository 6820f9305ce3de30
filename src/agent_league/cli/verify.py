"""`league verify`: check a whole league from its record alone."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from agent_league.cli import league_options as flags
from agent_league.cli.console import print_document
from agent_league.cli.exit_codes import Exit
from agent_league.cli.which_league import complete_endpoint, find_stored, is_address
from agent_league.printable import format_count, make_printable
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.running.serve import open_client
from agent_league.season.settings import LeagueSettings
from agent_league.store.record import read_record
from agent_league.store.store import LeagueRow
from agent_league.verification.audit import Audit
from agent_league.verification.problems import NotHeldError, require
from agent_league.verification.stored import audit_store, check_files

PATIENCE = 60.0
LONGEST_RECORD = 1 << 30
OK = 200


def verify(
    league: flags.League = None,
    *,
    trust: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    head: str | None = None,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> int:
    """Check that the result of a league holds: draws, rules, points, table, and that nothing was changed.

    LEAGUE may also be the address of a manager, or a file with a record (`league export --format record`).

    Parameters
    ----------
    trust
        Referees whose draws are believed, because they know nothing of secrets.
    head
        A link of the record that you noted earlier; it must still be part of it.
    """
    try:
        audit, files = _audit(league, Folder(shared, store), trust)
        require(head is None or head in audit.links, "record", f"it has no link {head!r:.80}")
    except NotHeldError as error:
        _print_failure(error, json=json)
        return Exit.NO
    _print_success(audit, files, json=json)
    return Exit.OK


def _audit(league: str | None, folder: Folder, trust: Sequence[str]) -> tuple[Audit, int]:
    """Return the finished audit, and how many data files were compared."""
    if league is not None and is_address(league):
        return _audit_lines(_fetch_record(league), trust), 0
    if league is not None and Path(league).is_file():
        return _audit_lines(Path(league).read_bytes(), trust), 0
    home, row = find_stored(league, folder)
    return run(_audit_folder(home, row, trust))


async def _audit_folder(home: Folder, row: LeagueRow, trust: Sequence[str]) -> tuple[Audit, int]:
    async with home.read_store() as store:
        audit = await audit_store(store, row.league_id, trust)
        if not row.ended:
            return audit, 0  # the files of a league that runs may be behind
        events = [one.event async for page in store.events(row.league_id) for one in page]
    return audit, check_files(events, LeagueSettings.read(row.settings), home.shared)


def _audit_lines(record: bytes, trust: Sequence[str]) -> Audit:
    opening, lines = read_record(record.splitlines())
    audit = Audit(opening, trust)
    for line in lines:
        audit.take(line)
    return audit


def _fetch_record(league: str) -> bytes:
    base = complete_endpoint(league).removesuffix("/mcp")

    async def fetch() -> bytes:
        async with open_client(max_answer=LONGEST_RECORD) as wire:
            answer = await wire.get(f"{base}/record", PATIENCE)
        if answer.status != OK:
            hint = "a league that keeps nothing (--store memory) has no record"
            raise UsageError(f"{base} shows no record", hint)
        return answer.body

    return run(fetch())


def _print_failure(error: NotHeldError, *, json: bool) -> None:
    if json:
        print_document(holds=False, place=error.place, problem=error.what)
        return
    print(make_printable(f"does not hold: {error}"))
    if "told no secret" in error.what or "its secret gives" in error.what:
        hint = "a referee that draws by itself is believed with --trust, if you know it"
        print(f"hint: {hint}", file=sys.stderr)


def _print_success(audit: Audit, files: int, *, json: bool) -> None:
    counts, league_id = audit.counts, audit.season.settings.league_id
    if json:
        told: dict[str, Any] = vars(counts)
        print_document(holds=True, league_id=league_id, over=audit.is_over, head=audit.link, **told)
        return
    print(f"{make_printable(league_id)} holds" + ("" if audit.is_over else " so far"))
    numbers = format_count(counts.events, "event"), format_count(counts.matches, "match")
    print(f"  {', '.join(numbers)}, {counts.draws} played again")
    if files:
        print(f"  {files} files are what the events give")
    for referee_id, number in counts.unproven.items():
        print(f"  {number} draws of {make_printable(referee_id)} were believed, not proven")
    if counts.unchained:
        print(f"  {counts.unchained} events are of a version that made no hash chain")
    print(f"  head {audit.link}")
