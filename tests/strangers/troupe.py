"""Foreign agents as real processes, and a league over real HTTP for them to join."""

import asyncio
import json
import os
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agent_league.protocol import Patience, Role
from agent_league.store.events import ViolationNoted
from end_to_end.http_league import HttpLeague

TESTS = Path(__file__).parent.parent
UNHURRIED = Patience(
    register_referee=5.0,
    register_player=5.0,
    join=2.0,
    move=3.0,
    game_over=2.0,
    report=3.0,
    generic=3.0,
)
LONGEST = 45.0


class Stranger(NamedTuple):
    """A foreign agent, every rule that it breaks, and those for which a strict league is rid of it.

    One that breaks a rule when it registers is not let in; any other is disqualified.
    """

    name: str
    habits: frozenset[str]
    strictly: frozenset[str]
    refused: bool


def _stranger(name: str, at_the_door: str = "", at_first: str = "", later: str = "") -> Stranger:
    """Return a stranger that breaks rules when it registers, when it is first asked, afterwards."""
    door, first, more = (frozenset(rules.split()) for rules in (at_the_door, at_first, later))
    return Stranger(name, door | first | more, door or first, bool(door))


PLAYERS = [
    _stranger("shouter", "sender-form timestamp-form", later="choice-field"),
    _stranger(
        "nester", "method-invented message-nested", "reply-in-params reply-id", "accept-field"
    ),
    _stranger(
        "bare", "frame-missing message-type-case sender-missing timestamp-missing", "bare-only"
    ),
    _stranger("wrapper", "frame-id-missing", "reply-wrapped accept-field"),
    _stranger("later", at_first="later-answer"),
    _stranger("okay", at_first="reply-wrapped reply-error-null rate-limit", later="ok-to-unknown"),
    _stranger("claimer", at_first="player-id-other", later="registered-expected"),
    _stranger("picky", at_first="right-refused", later="accept-field"),
    _stranger("terse", at_first="reply-unframed", later="reply-envelope"),
]


@asynccontextmanager
async def running(name: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a stranger for the time of a context; none is left behind."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"strangers.agents.{name}",
        *arguments,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def said(process: asyncio.subprocess.Process) -> Any:
    """Return the next thing that a stranger prints."""
    assert process.stdout is not None
    async with asyncio.timeout(LONGEST):
        return json.loads(await process.stdout.readline())


async def registered(league: HttpLeague, role: Role, count: int) -> None:
    """Wait until so many are in."""
    something = asyncio.Event()
    league.events.listen(lambda event: something.set(), whole=False)
    async with asyncio.timeout(LONGEST):
        while len(league.manager.season.roster.of(role)) < count:
            something.clear()
            await something.wait()


def broken(league: HttpLeague) -> Mapping[str, set[str]]:
    """Return which rules were broken, by the first word of the name of who broke them."""
    roster = league.manager.season.roster
    found: dict[str, set[str]] = defaultdict(set)
    for event in league.events:
        if isinstance(event, ViolationNoted):
            found[roster[event.agent_id].display_name.split()[0].lower()].add(event.rule)
    return found
