"""`league watch`: a league on the terminal, followed from anywhere."""

import asyncio
import sys
from typing import Any

import msgspec

from agent_league.cli import league_options as flags
from agent_league.cli.report import print_final_standings
from agent_league.cli.screens import Screen, choose_screen
from agent_league.cli.which_league import find_address
from agent_league.http.exchange import Wire
from agent_league.own_time import own_time
from agent_league.protocol.failures import NoAnswerError
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.running.serve import open_client
from agent_league.season.season import Season, Stage
from agent_league.season.settings import LeagueSettings
from agent_league.store.codec import KINDS
from agent_league.store.events import Event

PAUSE, PATIENCE, LONGEST_ABSENCE = 0.5, 30.0, 60.0
"""Seconds: between two tries, for one answer, until a league that is gone is given up."""
OK = 200
_UNTOLD: dict[str, Any] = {
    **dict.fromkeys(("token_hash", "ticket_hash", "seed", "expires", "version", "endpoint"), ""),
    "proven": False,
}
"""What a league tells nobody: its events are read without it."""


def watch(
    league: flags.League = None,
    *,
    display: flags.Display | None = None,
    shared: flags.Shared = SHARED,
) -> None:
    """Follow a league on the terminal until it is over: here, or at an address elsewhere."""
    url = find_address(league, Folder(shared)).removesuffix("/mcp")
    screen = choose_screen(display)
    season = run(follow(url, screen))
    print_final_standings(season)


async def follow(url: str, screen: Screen) -> Season:
    """Show the league at *url* on *screen* until it is over, and return its season."""
    async with open_client(max_answer=64 << 20) as wire:
        page = await _read(wire, url, 0)
        season = Season(msgspec.convert(page["settings"], LeagueSettings))
        screen.open(season)
        try:
            seq = _apply(page, season, screen, 0)
            while season.stage is not Stage.COMPLETED:
                page = await _read_patiently(wire, url, seq)
                seq = _apply(page, season, screen, seq)
        finally:
            screen.on_close()
    return season


def _apply(page: dict[str, Any], season: Season, screen: Screen, seq: int) -> int:
    """Apply the events of *page*, and return the number of the last one."""
    for fields in page["events"]:
        event = read_event(fields)
        season.apply(event)
        screen.on_event(event)
        seq = fields["seq"]
    return seq


def read_event(fields: dict[str, Any]) -> Event:
    """Return an event as a league publishes it."""
    return msgspec.convert({**_UNTOLD, **fields}, KINDS[fields["event"]])


async def _read(wire: Wire, url: str, after: int) -> dict[str, Any]:
    answer = await wire.get(f"{url}/events.json?after={after}&wait", PATIENCE)
    if answer.status != OK:
        hint = "this needs the address of a league manager of this program"
        raise UsageError(f"{url} shows no events (HTTP {answer.status})", hint)
    return msgspec.json.decode(answer.body, type=dict[str, Any])


async def _read_patiently(wire: Wire, url: str, after: int) -> dict[str, Any]:
    """Read on; wait for a league that is interrupted, but not for ever."""
    gone_at = None
    while True:
        try:
            return await _read(wire, url, after)
        except NoAnswerError:
            if gone_at is None:
                gone_at = own_time()
                print(f"{url} does not answer; waiting for it ...", file=sys.stderr)
            if own_time() - gone_at > LONGEST_ABSENCE:
                raise
            await asyncio.sleep(PAUSE)
