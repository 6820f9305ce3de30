"""The folder in which leagues live: their store, and what their agents keep."""

import re
import shlex
import sys
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cyclopts import Parameter

from agent_league.cli.endings import UsageError
from agent_league.hosting import run
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.league.season import Season
from agent_league.league.snapshots import season_of
from agent_league.local import LocalPlan
from agent_league.sdk.journals import Level
from agent_league.store import StoreError
from agent_league.store.addresses import store_at
from agent_league.store.keepsakes import Keepsake, keep
from agent_league.store.log import LeagueRow, Store

SHARED = Path("SHARED")
Durability = Literal["power", "process"]
Shared = Annotated[Path, Parameter(help="The folder in which leagues are kept.")]
LogLevel = Annotated[
    Level, Parameter(help="What is worth a line in the log of an agent: DEBUG is every message.")
]
StoreAddress = Annotated[
    str | None, Parameter(help="Another store: a file, or postgresql://..., or memory.")
]
MEMORY = "memory"
"""The address of no store at all."""


@dataclass(frozen=True)
class Folder:
    """Where a league is kept: *address* is its store, by default a file in *shared*."""

    shared: Path = SHARED
    address: str | None = None
    durability: Durability = "power"

    @property
    def forgetful(self) -> bool:
        return self.address == MEMORY

    @property
    def name(self) -> str:
        """What people are told that it is: without the password of an address."""
        return str(self.shared) if self.address is None else "the store"

    @property
    def _file(self) -> Path:
        return self.shared / "league.db"

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Store | None]:
        """Open the store for the time of a context; None if nothing is to be kept."""
        if self.forgetful:
            yield None
            return
        opened = store_at(self.address or str(self._file), self.durability)
        try:
            yield opened
        finally:
            await opened.close()

    def state(self, league_id: str) -> Path | None:
        """Return where the agents of a league keep who they are."""
        return None if self.forgetful else self.shared / "state" / league_id

    @property
    def logs(self) -> Path | None:
        return None if self.forgetful else self.shared / "logs"

    def leagues(self) -> list[LeagueRow]:
        """Return the leagues that the folder holds, the oldest first."""

        async def listed() -> list[LeagueRow]:
            async with self.store() as store:
                return await store.leagues() if store else []

        if self.address is None and not self._file.exists():
            return []  # whoever only looks leaves nothing behind
        return run(listed())

    def season(self, settings: LeagueSettings, *, whole: bool = False) -> Season:
        """Return a league's season; unless it is to be *whole*, perhaps with few of its results."""

        async def read() -> Season:
            async with self.store() as store:
                return await season_of(store, settings, whole=whole) if store else Season(settings)

        return run(read())

    def taken_up(self, settings: LeagueSettings) -> LeagueSettings:
        """Return the settings of a league of that id that has not ended, or *settings*.

        A league that has ended is left alone: the new one gets an id of its own.
        """
        rows = self.leagues()
        for row in rows:
            if row.league_id == settings.league_id and not row.ended:
                return LeagueSettings.read(row.settings)
        return replace(settings, league_id=free_id(settings.league_id, self.taken(rows)))

    def taken(self, rows: Sequence[LeagueRow]) -> set[str]:
        """Return the ids of *rows*, and of leagues in other stores whose files are in this folder."""
        plans = () if self.forgetful else self.shared.glob("state/*/plan.json")
        elsewhere = (plan for plan in map(_readable, plans) if plan and plan.store != self._place)
        return {row.league_id for row in rows} | {plan.settings.league_id for plan in elsewhere}

    def saved(self, plan: LocalPlan) -> LocalPlan:
        """Return *plan* with a place for what its agents keep, where it can be found to resume."""
        state = self.state(plan.settings.league_id)
        placed = replace(plan, state=state, logs=self.logs)
        placed = replace(placed, store=self._place, durability=self.durability)
        if state is not None:
            placed.save(state / "plan.json")
        return placed

    def plan(self, league_id: str) -> LocalPlan | None:
        """Return how a league was begun, if it was begun from here."""
        state = self.state(league_id)
        if state is None:
            return None
        try:
            plan = LocalPlan.load(state / "plan.json")
        except msgspec.DecodeError as error:
            raise StoreError(f"{state / 'plan.json'} is damaged: {error}") from error
        return plan and replace(plan, state=state, logs=self.logs)  # the folder may have been moved

    def elsewhere(self) -> "Iterator[Folder]":
        """Yield where else leagues of this folder are kept, the one of the last plan first."""
        files = self.shared.glob("state/*/plan.json") if self.address is None else ()
        addresses = dict[str, None]()
        for file in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True):
            plan = _readable(file)
            addresses |= {plan.store: None} if plan and plan.store else {}
        return (replace(self, address=address) for address in addresses)

    @property
    def _unlocked(self) -> str | None:
        """The address without its password, which is neither shown nor written down."""
        return self.address and re.sub(r"(://[^:/@]+):[^@/]+@", r"\1@", self.address)

    @property
    def _place(self) -> str | None:
        """The same, so that it means the same from any folder."""
        return self._unlocked and _absolute(self._unlocked)

    @property
    def flags(self) -> str:
        """How a command is told to look here."""
        where = "" if self.shared == SHARED else f" --shared {shlex.quote(str(self.shared))}"
        store = f" --store {shlex.quote(self._unlocked)}" if self._unlocked else ""
        return f"{where}{store}"

    async def appoint(self, manager: LeagueManager) -> str | None:
        """Return the organiser's token of a league that has none yet; keep it for its owner."""
        if manager.season.organiser is not None:
            return None
        token = await manager.organiser.appoint()
        league_id = manager.settings.league_id
        state = self.state(league_id)
        if state is not None:
            keep(state / "organiser.json", Keepsake("organiser", token, league_id))
        return token

    def resume_command(self, league_id: str) -> str:
        """Return what to type to go on with a league."""
        return f"league resume {league_id}{self.flags}"

    def say_how_to_resume(self, league_id: str) -> None:
        """Tell whoever stopped a league what to type to go on with it, if it was kept."""
        if not self.forgetful:
            command = self.resume_command(league_id)
            print(f"\nStopped. Go on with: {command}", file=sys.stderr)


def to_resume(folder: Folder, league_id: str | None = None) -> tuple[Folder, LeagueRow]:
    """Return the league to resume and where it is kept, be it in another store of the folder."""
    try:
        return folder, unfinished(folder.leagues(), league_id)
    except UsageError:
        for other in folder.elsewhere():
            with suppress(UsageError):
                return other, unfinished(other.leagues(), league_id)
        raise


def _readable(path: Path) -> LocalPlan | None:
    with suppress(msgspec.DecodeError):
        return LocalPlan.load(path)
    return None


def _absolute(address: str) -> str:
    """Return an address that means the same from any folder."""
    return address if "://" in address else str(Path(address).expanduser().resolve())


def free_id(wanted: str, taken: Collection[str]) -> str:
    """Return *wanted*, with a number behind it if there is such a league already."""
    numbered = re.compile(rf"{re.escape(wanted)}_(\d+)")
    numbers = [int(found[1]) for name in taken if (found := numbered.fullmatch(name))]
    return f"{wanted}_{max(numbers, default=1) + 1}" if wanted in taken else wanted


def unfinished(rows: Sequence[LeagueRow], league_id: str | None = None) -> LeagueRow:
    """Return the league to resume: the one that was named, or the latest that has not ended."""
    named = [row for row in rows if row.league_id == league_id]
    going = [row for row in rows if not row.ended]
    if league_id is not None and not named:
        known = ", ".join(row.league_id for row in rows) or "none"
        raise UsageError(f"there is no league {league_id!r} here", f"there are: {known}")
    if league_id is None and not going:
        raise UsageError("no league is waiting to be resumed", "league play starts one")
    return named[0] if named else going[-1]
