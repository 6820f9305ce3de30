"""What every test may ask for.

`pytest --update-golden` writes what the code says now; `--hypothesis-profile=thorough` tries many
more examples, and other ones every time.
"""

import gc
import json

import pytest
from hypothesis import HealthCheck, settings

from agent_league.vocabulary import Json
from golden_files import GOLDEN, Golden
from wiring import WIRINGS, Wiring

# Nothing that is tried depends on how quick the machine is, or on what was tried before.
settings.register_profile(
    "everyday",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", settings.get_profile("everyday"), max_examples=1000, derandomize=False
)
settings.load_profile("everyday")


def pytest_collection_finish() -> None:
    """Leave out of garbage collection what stays anyway: the modules, and the tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the code says now")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a value with the file of that name, or write the file under --update-golden."""

    def check(name: str, value: Json) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            written = json.dumps(value, indent=2, ensure_ascii=False)
            path.write_text(f"{written}\n", encoding="utf-8")
        assert path.exists(), f"no tests/golden/{name}: write it with `make golden`"
        assert json.loads(path.read_text(encoding="utf-8")) == value

    return check


@pytest.fixture(params=WIRINGS)
def wire(request: pytest.FixtureRequest) -> Wiring:
    """Serve a peer and call it, in memory and over HTTP."""
    return WIRINGS[request.param]
