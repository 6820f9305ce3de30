"""`league traces`: a league for programs that show traces, such as Jaeger or Grafana Tempo."""

import sys
from collections.abc import AsyncIterator

import msgspec

from agent_league.cli import league_options as flags
from agent_league.cli.console import SCHEMA_VERSION
from agent_league.cli.which_league import find_stored
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.running.serve import open_client
from agent_league.season.season import Season
from agent_league.store.events import MatchEnded
from agent_league.web.exchanges import read_exchanges
from agent_league.web.records import StoredRecords
from agent_league.web.spans import Span, list_spans
from agent_league.web.traces import Collector

BATCH = 100
"""How many matches are read and sent at once."""


def traces(
    league: flags.League = None,
    *,
    to: str | None = None,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
) -> None:
    """Send the traces of a stored league to a collector of OpenTelemetry, or print them.

    Each match is a trace and each call of its referee a span. Agents that were called with
    traceparent (league play --trace) have added their own spans to the same traces.

    Parameters
    ----------
    to
        The collector, as http://127.0.0.1:4318; this takes the extra otel. By default the spans
        are printed, one JSON document a line.
    """
    folder, row = find_stored(league, Folder(shared, store))
    collector = Collector(to) if to else None
    season = folder.load_season(row.league_id, whole=True)
    matches, spans = run(_hand_over(folder, season, collector))
    if collector is not None:
        collector.close()
        print(f"Sent {matches} traces with {spans} spans to {to}.", file=sys.stderr)


async def _hand_over(
    folder: Folder, season: Season, collector: Collector | None
) -> tuple[int, int]:
    """Send or print the spans of a league; return how many matches and spans there were."""
    matches = spans = 0
    if collector is not None:
        async with open_client() as wire:
            await collector.check(wire)
    async with folder.read_store() as opened:
        records = StoredRecords(opened, season.settings.league_id)
        async for batch in _list_batches(season, records):
            matches += sum(one.parent_id is None for one in batch)
            spans += len(batch)
            if collector is not None:
                collector.send(batch)
                continue
            for one in batch:
                line = {"schema_version": SCHEMA_VERSION, **one._asdict()}
                print(msgspec.json.encode(line).decode())
    return matches, spans


async def _list_batches(season: Season, records: StoredRecords) -> AsyncIterator[list[Span]]:
    ended: list[MatchEnded] = list(season.results.values())
    for start in range(0, len(ended), BATCH):
        some = ended[start : start + BATCH]
        transcripts = await records.read_transcripts([one.match_id for one in some])
        batch: list[Span] = []
        for one in some:
            assigned = season.assignments.get(one.match_id)
            entries = transcripts.get(one.match_id, [])
            exchanges = read_exchanges(entries, season.settings.patience)
            batch += list_spans(season, assigned, one, exchanges)
        yield batch
