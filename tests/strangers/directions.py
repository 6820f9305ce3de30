"""Leagues of our agents and those of the families, in every direction, over real HTTP.

Everything is in this process and in virtual time: what the families wait for costs nothing.
"""

import asyncio
import itertools
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from agent_league.agent_log import AgentLog, log
from agent_league.cli.screens import format_agent_event
from agent_league.cli.warning_digest import WarningDigest
from agent_league.protocol import Patience, Role
from agent_league.running.members import run_members
from agent_league.running.serve import bind
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.store.events import AgentRegistered, ViolationNoted
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague, played
from strangers.families import a, b, c, d, e, kit
from strangers.families.kit import Book, Ended
from timewarp import run_over_sockets

FAMILIES: dict[str, ModuleType] = {"A": a, "B": b, "C": c, "D": d, "E": e}
LONGEST = 300.0
"""Virtual seconds after which nothing good can come any more."""
OURS = "Ours"
MOST_LINES = 3
"""How many lines about one third-party agent may be on the screen in a whole league."""
_hosts = itertools.count(1)


def find_host() -> str:
    """Return an address of this machine that no other test uses, so that every port is free."""
    high, low = divmod(os.getpid(), 250)
    return f"127.{64 + high % 180}.{low + 1}.{next(_hosts) % 250 + 1}"


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Give the list of the warnings that the screen of a league shows while the block runs."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    handler = Keep(logging.WARNING)
    handler.addFilter(WarningDigest())
    log.addHandler(handler)
    try:
        yield lines
    finally:
        log.removeHandler(handler)


@asynccontextmanager
async def running(*agents: kit.Agent) -> AsyncIterator[None]:
    """Run agents of a family for the time of a context."""
    for agent in agents:
        await agent.start()
    try:
        yield
    finally:
        for agent in agents:
            await agent.close()


async def until(condition: Callable[[], object], within: float = 120.0) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - the agents of a family have no events
            await asyncio.sleep(0.5)


class Refusals(AgentLog):
    """Keeps the rules that are named where something is refused."""

    def __init__(self, rules: list[str]) -> None:
        self._rules = rules

    def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
        self._rules.extend(details.get("rules", []))


@dataclass
class Hosted:
    """A league of ours after it has ended."""

    league: HttpLeague
    warnings: list[str]
    theirs: set[str] = field(default_factory=set)
    """The ids of the agents that are of a family."""
    refusals: list[str] = field(default_factory=list)
    """The rules for which an application was refused."""

    def watch(self, league: HttpLeague) -> None:
        """Keep *league*, and why it refuses applications."""
        self.league = league
        league.manager.agent_log = Refusals(self.refusals)

    @property
    def terminations(self) -> list[str]:
        return [ended.termination for ended in self.league.manager.season.results.values()]

    @property
    def technical_losses(self) -> int:
        results = self.league.manager.season.results.values()
        return sum(len(ended.technical_losses) for ended in results)

    def list_screen(self, agent_id: str) -> list[str]:
        """Return the lines on the screen that are about one agent, but for those of its matches."""
        events = (e for e in self.league.events if not isinstance(e, AgentRegistered))
        printed = (format_agent_event(event) for event in events)
        lines = [line for line in (*self.warnings, *printed) if line]
        return [line for line in lines if agent_id in line]

    def list_noted(self, role: Role) -> set[str]:
        """Return the rules that were noted for anybody of a family in this role."""
        roster = self.league.manager.season.roster
        events = [e for e in self.league.events if isinstance(e, ViolationNoted)]
        ours = [event for event in events if event.agent_id in self.theirs]
        return {event.rule for event in ours if roster[event.agent_id].role is role}

    def list_blamed(self) -> set[str]:
        """Return who else was noted for anything: nobody, if all is well."""
        events = (e for e in self.league.events if isinstance(e, ViolationNoted))
        return {event.agent_id for event in events} - self.theirs


def host(
    *modules: ModuleType,
    each: int = 2,
    ours: int = 2,
    earlier: int = 0,
    strictness: str = "tolerant",
) -> Hosted:
    """Play a league of our manager and referee with players of families, and of ours.

    If so many of ours join *earlier*, others are given other ids than those that they have.
    """
    hosted: list[Hosted] = []

    async def script(league: HttpLeague) -> None:
        found = hosted[0]
        found.watch(league)
        referee = await league.add_referee()
        book = kit.standard_book(find_host())
        book |= {"LM01": league.url, "REF01": referee.endpoint}
        roster = league.manager.season.roster
        numbers = itertools.count(1)
        for _ in range(earlier):
            await league.add_player()
        async with AsyncExitStack() as stack:
            for module in modules:
                for _ in range(each):
                    known = {entry.agent_id for entry in roster.of(Role.PLAYER)}
                    player = module.Player(f"P{next(numbers):02}", book)
                    await stack.enter_async_context(running(player))
                    await wait_for_entry(league, len(known) + 1)
                    found.theirs |= {one.agent_id for one in roster.of(Role.PLAYER)} - known
            for _ in range(ours):
                await league.add_player()
            await asyncio.sleep(10.0)  # some register again if they did not like the answer
            league.manager.season_runner.start_now()
            async with asyncio.timeout(LONGEST):
                await league.play()

    async def wait_for_entry(league: HttpLeague, count: int) -> None:
        roster = league.manager.season.roster
        with suppress(TimeoutError) if strictness == "strict" else nullcontext():
            await until(lambda: len(roster.of(Role.PLAYER)) >= count, 20.0)

    with collect_warnings() as warnings:
        hosted.append(Hosted(HttpLeague(), warnings))
        played(script, **make_settings(strictness))
    return hosted[0]


def make_settings(strictness: str = "tolerant") -> dict[str, Any]:
    waits = {"patience": Patience(), "heartbeat": 5.0, "farewell": 5.0}
    return {**waits, "strictness": strictness}


@dataclass
class Visit:
    """A league of a family after it has ended, or after nothing happened any more."""

    manager: Any
    matches: list[Ended]
    warnings: list[str]

    @property
    def is_over(self) -> bool:
        return bool(self.manager.over.is_set())

    @property
    def technical_reports(self) -> list[kit.Json]:
        """The reports to the manager of matches that somebody lost without playing."""
        reports = [document for document in self.manager.received if "result" in str(document)]
        return [document for document in reports if "TECHNICAL_LOSS" in str(document)]

    def list_of(self, who: str) -> list[Ended]:
        return [match for match in self.matches if who in match.players]


def visit(
    module: ModuleType, *, players: Sequence[str] = (), referee: bool = False, theirs: int = 3
) -> Visit:
    """Send our agents to a league of a family: players with these ids, or a referee."""

    async def main() -> Visit:
        book = kit.standard_book(find_host())
        manager = module.Manager(book)
        judge = module.Referee("REF01", book)
        staff = [] if referee else [judge]
        others = [module.Player(f"P{n:02}", book) for n in range(1, theirs + 1)]
        async with running(manager, *staff):
            await until(lambda: referee or len(manager.referees) == 1)
            specs = [AgentSpec(Role.REFEREE, "REF01", 0, "Referee")] if referee else []
            async with AsyncExitStack() as stack:
                visitors = [stack.enter_context(visiting(specs, book))] if specs else []
                await until(lambda: len(manager.referees) == 1, 30.0)
                for other in others:
                    known = len(manager.players)
                    await stack.enter_async_context(running(other))
                    await until(lambda known=known: len(manager.players) > known)  # type: ignore[misc]  # bound now
                guests = [
                    AgentSpec(Role.PLAYER, who, 0, OURS, strategy="always_odd") for who in players
                ]
                if guests:
                    visitors.append(stack.enter_context(visiting(guests, book)))
                    await until(lambda: len(manager.players) == theirs + len(guests), 30.0)
                await manager.begin()
                await asyncio.wait({asyncio.ensure_future(manager.over.wait())}, timeout=400.0)
                await asyncio.sleep(5.0)
                for one in visitors:
                    raise_if_failed(one)
        return Visit(manager, judge.matches, [])

    with collect_warnings() as warnings:
        found = run_over_sockets(main())
    found.warnings = warnings
    return found


@contextmanager
def visiting(specs: Sequence[AgentSpec], book: Book) -> Iterator[asyncio.Future[None]]:
    """Run our agents at the places that the book of a family has for them."""
    places = [(spec, *_find_place(book[spec.agent_id])) for spec in specs]
    agents = [(spec, bind(where, port)) for spec, where, port in places]
    members = run_members(agents, LeagueLink(book["LM01"]), asyncio.Event())
    task = asyncio.ensure_future(members)
    try:
        yield task
    finally:
        task.cancel()


def _find_place(url: str) -> tuple[str, int]:
    address, _, port = url.removeprefix("http://").removesuffix("/mcp").partition(":")
    return address, int(port)


def raise_if_failed(task: "asyncio.Future[None]") -> None:
    if task.done() and not task.cancelled() and (error := task.exception()) is not None:
        raise error


def refereed(
    module: ModuleType,
    *,
    theirs: int = 2,
    ours: int = 2,
    strictness: str = "tolerant",
    ends: bool = True,
) -> Hosted:
    """Play a league of our manager with a referee of a family, its players and ours.

    A league that never *ends* is stopped after some minutes.
    """
    hosted: list[Hosted] = []

    async def script(league: HttpLeague) -> None:
        found = hosted[0]
        found.watch(league)
        book = kit.standard_book(find_host())
        book["LM01"] = league.url
        roster = league.manager.season.roster
        referee = module.Referee("REF01", book)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(running(referee))
            with suppress(TimeoutError) if strictness == "strict" else nullcontext():
                await until(lambda: roster.of(Role.REFEREE), 40.0)
            for number in range(1, theirs + 1):
                player = module.Player(f"P{number:02}", book)
                await stack.enter_async_context(running(player))
                await until(lambda n=number: len(roster.of(Role.PLAYER)) == n, 40.0)  # type: ignore[misc]  # bound now
            found.theirs = {entry.agent_id for entry in roster.of(Role.REFEREE, Role.PLAYER)}
            for number in range(theirs + 1, theirs + ours + 1):
                member = await league.add_player()
                book[f"P{number:02}"] = member.endpoint
            await asyncio.sleep(10.0)
            league.manager.season_runner.start_now()
            with nullcontext() if ends else suppress(TimeoutError):
                async with asyncio.timeout(LONGEST):
                    await league.play()

    with collect_warnings() as warnings:
        hosted.append(Hosted(HttpLeague(), warnings))
        played(script, **make_settings(strictness))
    return hosted[0]
