"""The folder in which leagues live: their store, and what their agents keep."""

import re
import shlex
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cyclopts import Parameter

from agent_league.cli.endings import UsageError
from agent_league.hosting import run
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.local import LocalPlan
from agent_league.store import StoreError
from agent_league.store.addresses import store_at
from agent_league.store.keepsakes import Keepsake, keep
from agent_league.store.log import LeagueRow, Store

SHARED = Path("SHARED")
Durability = Literal["power", "process"]
Shared = Annotated[Path, Parameter(help="The folder in which leagues are kept.")]
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

    def leagues(self) -> list[LeagueRow]:
        """Return the leagues that the folder holds, the oldest first."""

        async def listed() -> list[LeagueRow]:
            async with self.store() as store:
                return await store.leagues() if store else []

        if self.address is None and not self._file.exists():
            return []  # whoever only looks leaves nothing behind
        return run(listed())

    def taken_up(self, settings: LeagueSettings) -> LeagueSettings:
        """Return the settings of a league of that id that has not ended, or *settings*.

        A league that has ended is left alone: the new one gets an id of its own.
        """
        rows = self.leagues()
        for row in rows:
            if row.league_id == settings.league_id and not row.ended:
                return LeagueSettings.read(row.settings)
        return replace(settings, league_id=free_id(settings.league_id, rows))

    def saved(self, plan: LocalPlan) -> LocalPlan:
        """Return *plan* with a place for what its agents keep, where it can be found to resume."""
        state = self.state(plan.settings.league_id)
        placed = replace(plan, state=state)
        if state is not None:
            placed.save(state / "plan.json")
        return placed

    def plan(self, league_id: str) -> LocalPlan | None:
        """Return which agents a league was played with, if it was played from here."""
        state = self.state(league_id)
        if state is None:
            return None
        try:
            plan = LocalPlan.load(state / "plan.json")
        except msgspec.DecodeError as error:
            raise StoreError(f"{state / 'plan.json'} is damaged: {error}") from error
        return plan and replace(plan, state=state)  # the folder may have been moved

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
        where = "" if self.shared == SHARED else f" --shared {shlex.quote(str(self.shared))}"
        unlocked = re.sub(r"(://[^:/@]+):[^@/]+@", r"\1@", self.address or "")  # no password shown
        store = f" --store {shlex.quote(unlocked)}" if unlocked else ""
        return f"league resume {league_id}{where}{store}"

    def say_how_to_resume(self, league_id: str) -> None:
        """Tell whoever stopped a league what to type to go on with it, if it was kept."""
        if not self.forgetful:
            command = self.resume_command(league_id)
            print(f"\nStopped. Go on with: {command}", file=sys.stderr)


def free_id(wanted: str, rows: Sequence[LeagueRow]) -> str:
    """Return *wanted*, with a number behind it if there is such a league already."""
    taken = {row.league_id for row in rows}
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
