"""Which store an address means."""

from pathlib import Path

from agent_league.store.log import Store, StoreError
from agent_league.store.sqlite import Durability, SqliteStore

_EXPECTED = "expected a file, sqlite:///file, or postgresql://user@host/database"


def store_at(address: str, durability: Durability = "power") -> Store:
    """Return the store at *address*, or raise `StoreError`.

    After `sqlite://` comes a slash, and then the path: `sqlite:////var/a.db` is absolute.
    """
    scheme, separator, rest = address.partition("://")
    if not separator:
        return SqliteStore(_file(address), durability)
    if scheme == "sqlite" and rest.startswith("/"):
        return SqliteStore(_file(rest[1:]), durability)
    if scheme in ("postgresql", "postgres"):
        # asyncpg is an extra, and takes as long to load as all the rest of a store.
        from agent_league.store.postgres import PostgresStore  # noqa: PLC0415 - see above

        return PostgresStore(address, durability)
    # Not the whole address: it may hold a password.
    raise StoreError(f"{scheme}:// is no store; {_EXPECTED}")


def _file(path: str) -> Path:
    if path in ("", ":memory:"):  # SQLite would make a store that forgets
        raise StoreError(f"{path!r} is no file to keep a league in; {_EXPECTED}")
    return Path(path).expanduser()
