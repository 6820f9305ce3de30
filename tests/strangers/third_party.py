"""Third-party agents as real processes, and a league over real HTTP for them to join."""

import asyncio
import json
import os
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
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


class ThirdParty(NamedTuple):
    """A third-party agent, the rules that it breaks, and those for which a strict league bans it.

    One that breaks a rule when it registers is not admitted; any other is disqualified.
    """

    name: str
    deviations: frozenset[str]
    strictly: frozenset[str]
    refused: bool


def _agent(name: str, registering: str = "", at_first: str = "", later: str = "") -> ThirdParty:
    """Return an agent that breaks rules when it registers, when it is first asked, afterwards."""
    joining, first, more = (frozenset(rules.split()) for rules in (registering, at_first, later))
    return ThirdParty(name, joining | first | more, joining or first, bool(joining))


PLAYERS = [
    _agent("shouter", "sender-form timestamp-form", later="choice-field"),
    _agent("nester", "method-invented message-nested", "reply-in-params reply-id", "accept-field"),
    _agent("bare", "frame-missing message-type-case sender-missing timestamp-missing", "bare-only"),
    _agent("wrapper", "frame-id-missing", "reply-wrapped accept-field"),
    _agent("later", at_first="later-answer"),
    _agent("okay", at_first="reply-wrapped reply-error-null rate-limit", later="ok-to-unknown"),
    _agent("claimer", at_first="player-id-other", later="registered-expected"),
    _agent("picky", at_first="right-refused", later="accept-field"),
    _agent("terse", at_first="reply-unframed", later="reply-envelope"),
]


@asynccontextmanager
async def running(name: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a third-party agent for the time of a context; none is left behind."""
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


async def printed_by(process: asyncio.subprocess.Process) -> Any:
    """Return the next JSON document that a third-party agent prints."""
    assert process.stdout is not None
    async with asyncio.timeout(LONGEST):
        return json.loads(await process.stdout.readline())


async def until(league: HttpLeague, condition: Callable[[], bool]) -> None:
    """Wait until *condition* holds, which only an event of *league* can bring about."""
    something = asyncio.Event()
    league.events.listen(lambda event: something.set(), needs_all_events=False)
    async with asyncio.timeout(LONGEST):
        while not condition():
            something.clear()
            await something.wait()


async def registered(league: HttpLeague, role: Role, count: int) -> None:
    """Wait until so many are in."""
    await until(league, lambda: len(league.manager.season.roster.of(role)) >= count)


def broken(league: HttpLeague) -> Mapping[str, set[str]]:
    """Return which rules were broken, by the first word of the name of who broke them."""
    roster = league.manager.season.roster
    found: dict[str, set[str]] = defaultdict(set)
    for event in league.events:
        if isinstance(event, ViolationNoted):
            found[roster[event.agent_id].display_name.split()[0].lower()].add(event.rule)
    return found
