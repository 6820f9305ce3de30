"""A manager that stands by: it leads a league when no other manager does."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import Folder
from agent_league.running.specs import LeagueSpec
from agent_league.season.settings import LeagueSettings
from agent_league.store import NotLeadingError
from agent_league.store.queue import prepare_queue
from agent_league.store.store import Store

SAID_AFTER_S = 1.0
"""A manager that gets its turn sooner does not say that it waited."""


def lead_in_turn(
    spec: LeagueSpec,
    folder: Folder,
    lead: Callable[[LeagueSpec], None],
    say: Callable[[str], None],
) -> None:
    """Call *lead* whenever it is our turn to lead the league, until the league is over."""
    if "://" not in (folder.address or "") or str(folder.address).startswith("sqlite"):
        problem = "managers that stand by share a store in PostgreSQL"
        raise UsageError(problem, "give --store postgresql://user@host/database")
    prepare_queue()
    while True:
        opened = run(_wait_for_turn(spec, folder, say))
        if opened is None:
            return say(f"{spec.settings.league_id} is over.")
        try:
            return lead(folder.save_spec(opened))
        except NotLeadingError as error:
            say(f"{error}. Standing by again.")


async def _wait_for_turn(
    spec: LeagueSpec, folder: Folder, say: Callable[[str], None]
) -> LeagueSpec | None:
    """Return the league to lead, with the settings that it has by then; None if it is over."""
    league_id = spec.settings.league_id
    async with folder.read_store() as store:
        turn = asyncio.ensure_future(store.wait_for_turn(league_id))
        await asyncio.wait({turn}, timeout=SAID_AFTER_S)
        if not turn.done():
            say(f"Standing by for {league_id}{await _name_leader(store, league_id)}.")
        await turn
        for row in await store.leagues():
            if row.league_id == league_id:
                settings = LeagueSettings.read(row.settings)
                return None if row.ended else replace(spec, settings=settings)
    return spec


async def _name_leader(store: Store, league_id: str) -> str:
    address = await store.find_leader(league_id)
    return f", which is led by the manager at {address}" if address else ""
