"""Stores to test: the same tests run over each kind."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.cluster import Cluster, hindrance


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests that need PostgreSQL in one worker: they share a server, and some stop it."""
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        names = {*getattr(item, "fixturenames", ()), parameters.get("address")}
        if names & {"cluster", "postgres"}:
            item.add_marker(pytest.mark.xdist_group("postgres"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Give a running PostgreSQL; whoever stops it starts it again."""
    if why := hindrance():
        pytest.skip(why)
    running = Cluster()
    try:
        running.start()
        yield running
    finally:
        running.remove()


@pytest.fixture
def postgres(cluster: Cluster) -> str:
    """Give the address of a PostgreSQL without any league."""
    asyncio.run(cluster.clear())
    return cluster.address


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the address of a new store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "league.db")
    found: str = request.getfixturevalue("postgres")
    return found
