"""The store at an address."""

from pathlib import Path

from agent_league.store.errors import StoreError
from agent_league.store.sqlite import SqliteStore
from agent_league.store.store import Durability, Store

_EXPECTED = "expected a file, sqlite:///file, or postgresql://user@host/database"


def store_at(address: str, durability: Durability = "power") -> Store:
    """Return the store at *address*, or raise `StoreError`.

    The path follows `sqlite:///`, so `sqlite:////var/a.db` is absolute.
    """
    scheme, separator, rest = address.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        try:  # asyncpg is an optional dependency, and slow to import
            from agent_league.store.postgres import PostgresStore  # noqa: PLC0415 - see above
        except ModuleNotFoundError as missing:
            problem = "PostgreSQL needs asyncpg: pip install agent-league[postgres]"
            raise StoreError(problem) from missing
        return PostgresStore(address, durability)
    if separator and not (scheme == "sqlite" and rest.startswith("/")):
        # Not the whole address: it may hold a password.
        raise StoreError(f"{scheme}:// is not a store; {_EXPECTED}")
    path = rest[1:] if separator else address
    if path in ("", ":memory:"):  # SQLite would keep nothing
        raise StoreError(f"{path!r} is not a file for a store; {_EXPECTED}")
    return SqliteStore(Path(path).expanduser(), durability)
