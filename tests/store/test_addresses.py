"""Which store an address means."""

from pathlib import Path

import pytest

from agent_league.store import StoreError
from agent_league.store.addresses import store_at
from agent_league.store.postgres import PostgresStore
from agent_league.store.sqlite import SqliteStore


def test_a_path_is_a_file(tmp_path: Path) -> None:
    for address in (f"{tmp_path}/a.db", f"sqlite:///{tmp_path}/a.db"):
        store = store_at(address)
        assert isinstance(store, SqliteStore)
        assert store.path == tmp_path / "a.db"


def test_three_slashes_are_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store_at("sqlite:///a.db")
    assert (tmp_path / "a.db").exists()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_postgresql_is_not_asked_before_it_is_needed(scheme: str) -> None:
    assert isinstance(store_at(f"{scheme}://ann:secret@db.invalid/cup"), PostgresStore)


@pytest.mark.parametrize(
    "address", ["mysql://ann:secret@h/cup", "", ":memory:", "sqlite:///", "sqlite://a.db"]
)
def test_anything_else_is_refused_with_what_was_expected(address: str) -> None:
    with pytest.raises(
        StoreError, match="expected a file, sqlite:///file, or postgresql:"
    ) as reply:
        store_at(address)
    assert "secret" not in str(reply.value)
