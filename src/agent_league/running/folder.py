"""The folder in which leagues are kept: their store, their specs, and the files of their agents."""

import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import load_season
from agent_league.store import StoreError
from agent_league.store.addresses import store_at
from agent_league.store.agent_files import Identity, save_identity
from agent_league.store.store import Durability, LeagueRow, Store

if TYPE_CHECKING:  # to list leagues, none of the agents is needed
    from agent_league.league import LeagueManager
    from agent_league.running.specs import LeagueSpec

SHARED = Path("SHARED")
STORE_FILE = "league.db"
ADDRESS_FILE = "address"
MEMORY = "memory"
"""The address that stands for no store at all."""


@dataclass(frozen=True)
class Folder:
    """Where leagues are kept: *address* is their store, by default a file in *shared*."""

    shared: Path = SHARED
    address: str | None = None
    durability: Durability = "power"

    @property
    def is_in_memory(self) -> bool:
        return self.address == MEMORY

    @property
    def name(self) -> str:
        """What people call it; an address is not shown, as it may hold a password."""
        return str(self.shared) if self.address is None else "the store"

    @property
    def public_address(self) -> str | None:
        """The address without its password, which is neither shown nor written down."""
        return self.address and re.sub(r"(://[^:/@]+):[^@/]+@", r"\1@", self.address)

    @property
    def _absolute_address(self) -> str | None:
        """The public address in a form that means the same from any folder."""
        address = self.public_address
        if address is None or "://" in address:
            return address
        return str(Path(address).expanduser().resolve())

    @property
    def logs(self) -> Path | None:
        return None if self.is_in_memory else self.shared / "logs"

    def measure_room(self) -> int | None:
        """Return how many bytes are free where the league is kept; None if that is not on a disk here."""
        if self.is_in_memory or not self.shared.exists():
            return None
        return shutil.disk_usage(self.shared).free

    def get_state_folder(self, league_id: str) -> Path | None:
        """Return where the agents of a league keep their identities."""
        return None if self.is_in_memory else self.shared / "state" / league_id

    @asynccontextmanager
    async def open_store(self) -> AsyncIterator[Store | None]:
        """Open the store for the time of a context; None if nothing is to be kept."""
        if self.is_in_memory:
            yield None
            return
        store = store_at(self.address or str(self.shared / STORE_FILE), self.durability)
        try:
            yield store
        finally:
            await store.close()

    @asynccontextmanager
    async def read_store(self) -> AsyncIterator[Store]:
        """Open the store for the time of a context, or raise `UsageError` if there is none."""
        async with self.open_store() as store:
            if store is None:
                raise UsageError("nothing is kept in memory", "give a --store")
            yield store

    def list_leagues(self) -> list[LeagueRow]:
        """Return the leagues that the folder holds, the oldest first."""

        async def fetch() -> list[LeagueRow]:
            async with self.open_store() as store:
                return await store.leagues() if store else []

        if self.address is None and not (self.shared / STORE_FILE).exists():
            return []  # to look must not create a store
        return run(fetch())

    def find_league(
        self, league_id: str | None = None, *, must_be_unfinished: bool = False
    ) -> LeagueRow:
        """Return the league *league_id*; without an id the latest, that perhaps has not ended."""
        rows = self.list_leagues()
        if league_id is not None:
            matching = [row for row in rows if row.league_id == league_id]
        else:
            matching = [row for row in rows if not (must_be_unfinished and row.ended)]
        if matching:
            return matching[-1]
        if league_id is None and must_be_unfinished:
            raise UsageError("no league is waiting to be resumed", "league play starts one")
        missing = f"no league {league_id!r}" if league_id else "no league"
        known = ", ".join(row.league_id for row in rows)
        elsewhere = "" if self.address else ", and one in PostgreSQL needs --store"
        nothing = "league play starts one; a running one is named by its address, such as "
        hint = f"there are: {known}" if known else f"{nothing}http://127.0.0.1:8000{elsewhere}"
        raise UsageError(f"there is {missing} in {self.name}", hint)

    def load_season(self, league_id: str, *, whole: bool = False) -> Season:
        """Return a league's season; if it need not be *whole*, some results may be missing."""

        async def load() -> Season:
            async with self.read_store() as store:
                settings = LeagueSettings.read(await store.settings(league_id))
                return await load_season(store, settings, whole=whole)

        return run(load())

    def find_free_id(self, wanted: str, rows: Sequence[LeagueRow]) -> str:
        """Return an id for a new league: *wanted*, with a number if *rows* or the files have it."""
        specs = [spec for spec in self._load_specs() if spec.store != self._absolute_address]
        used_ids = {row.league_id for row in rows} | {spec.settings.league_id for spec in specs}
        if wanted not in used_ids:
            return wanted
        pattern = re.compile(rf"{re.escape(wanted)}_(\d+)")
        numbers = [int(numbered[1]) for name in used_ids if (numbered := pattern.fullmatch(name))]
        return f"{wanted}_{max(numbers, default=1) + 1}"

    def find_waiting(self, wanted: str) -> LeagueRow | None:
        """Return the latest league called *wanted*, or that and a number, that waits to go on.

        A league with players of our own is left to `league resume`, which starts them as well.
        """
        pattern = re.compile(rf"{re.escape(wanted)}(_\d{{1,3}})?")
        for row in reversed(self.list_leagues()):
            if pattern.fullmatch(row.league_id) and not row.ended:
                spec = self.load_spec(row.league_id)
                if spec is None or not spec.players:
                    return row
        return None

    def open_spec(self, spec: "LeagueSpec", *, new: bool = False) -> "LeagueSpec":
        """Return *spec* for the league of that name that has not ended, or for a *new* league.

        A league that has ended is left alone: the next one gets its id with a number.
        """
        wanted = spec.settings.league_id
        row = None if new else self.find_waiting(wanted)
        if row is not None:
            return self.save_spec(replace(spec, settings=LeagueSettings.read(row.settings)))
        league_id = self.find_free_id(wanted, self.list_leagues())
        return self.save_spec(replace(spec, settings=replace(spec.settings, league_id=league_id)))

    def save_spec(self, spec: "LeagueSpec") -> "LeagueSpec":
        """Return *spec* as it is kept here, to be resumed later.

        A manager that is run alone does not replace the spec of a league with agents.
        """
        kept = replace(spec, store=self._absolute_address, durability=self.durability)
        state = self.get_state_folder(spec.settings.league_id)
        if state is not None:
            known = _try_load(state / "plan.json")
            if known is None or known.is_manager_only or not spec.is_manager_only:
                kept.save(state / "plan.json")
        return kept

    def load_spec(self, league_id: str) -> "LeagueSpec | None":
        """Return the spec of a league that was begun from here."""
        state = self.get_state_folder(league_id)
        if state is None:
            return None
        try:
            return _load(state / "plan.json")
        except msgspec.DecodeError as error:
            raise StoreError(f"{state / 'plan.json'} is damaged: {error}") from error

    def find_resumable(self, league_id: str | None = None) -> "tuple[Folder, LeagueRow]":
        """Return the league to resume, and where it is: perhaps in another store of the folder."""
        try:
            return self, self.find_league(league_id, must_be_unfinished=True)
        except UsageError:
            specs = self._load_specs() if self.address is None else []
            for address in dict.fromkeys(spec.store for spec in specs if spec.store):
                other = replace(self, address=address)
                with suppress(UsageError):
                    return other, other.find_league(league_id, must_be_unfinished=True)
            raise

    def _load_specs(self) -> "list[LeagueSpec]":
        """Return the specs of all leagues of the folder, the one that was saved last first."""
        files = () if self.is_in_memory else self.shared.glob("state/*/plan.json")
        newest_first = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
        return [spec for spec in map(_try_load, newest_first) if spec]

    def save_address(self, league_id: str, url: str | None) -> None:
        """Note where the manager of a league listens, for the commands of its organiser."""
        state = self.get_state_folder(league_id)
        if state is not None:
            with suppress(OSError):  # the league is played without it
                state.mkdir(parents=True, exist_ok=True)
                file = state / ADDRESS_FILE
                file.write_text(url, encoding="utf-8") if url else file.unlink(missing_ok=True)

    def load_address(self, league_id: str) -> str | None:
        """Return where the manager of a league listens, if the league runs."""
        state = self.get_state_folder(league_id)
        with suppress(OSError, UnicodeDecodeError):
            return (state / ADDRESS_FILE).read_text(encoding="utf-8") if state else None
        return None

    async def appoint_organiser(self, manager: "LeagueManager") -> str | None:
        """Return the organiser's token of a league that has none yet, and keep it in a file."""
        if manager.season.organiser is not None:
            return None
        token = await manager.organiser.appoint()
        league_id = manager.settings.league_id
        state = self.get_state_folder(league_id)
        if state is not None:
            save_identity(state / "organiser.json", Identity("organiser", token, league_id))
        return token


def _try_load(path: Path) -> "LeagueSpec | None":
    with suppress(msgspec.DecodeError):
        return _load(path)
    return None


def _load(path: Path) -> "LeagueSpec | None":
    from agent_league.running.specs import LeagueSpec  # noqa: PLC0415 - it imports every agent

    return LeagueSpec.load(path)
