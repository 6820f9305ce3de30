"""What every test may ask for. `pytest --update-golden` writes what the code says now."""

import json

import pytest

from agent_league.vocabulary import Json
from golden_files import GOLDEN, Golden


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
