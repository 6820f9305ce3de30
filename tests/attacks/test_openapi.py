"""T18: schemathesis tries what OpenAPI publishes: no 5xx, no answer that is not promised, bounded memory."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from agent_league.protocol.contracts import openapi

schema: Any = schemathesis.openapi.from_dict(openapi())
PROMISES = [
    not_a_server_error,
    unsupported_method,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
"""Not that wrong data gets a status of 400 or more: JSON-RPC refuses with 200."""
MOST_MEMORY = 300 * 2**20


class League:
    """A league of real processes that waits for players."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "agent_league", "start", "--players", "3"]
        words = [*command, "--port-base", "0", "--shared", str(folder)]
        self._process = subprocess.Popen(words, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert self._process.stderr is not None
        while b"/mcp" not in (line := self._process.stderr.readline()):
            assert line, "the league did not start"
        found = re.search(r"http://[0-9.:]+(?=/mcp)", line.decode())
        assert found is not None
        self.url = found[0]
        self.session = requests.Session()

    def measure(self) -> int:
        """Return the memory of all its processes, or fail if one of them has ended."""
        assert self._process.poll() is None, "the league has ended"
        found = psutil.Process(self._process.pid)
        return sum(one.memory_info().rss for one in (found, *found.children(recursive=True)))

    def stop(self) -> None:
        self.session.close()
        self._process.terminate()
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Iterator[League]:
    league = League(tmp_path_factory.mktemp("openapi"))
    yield league
    league.stop()


@pytest.mark.processes
@schema.parametrize()  # type: ignore[untyped-decorator]  # a schema is made at run time
@settings(max_examples=40, deadline=None, suppress_health_check=[*HealthCheck])
def test_what_is_published_holds(case: Any, league: League) -> None:
    options = {"session": league.session, "timeout": 30}
    case.call_and_validate(base_url=league.url, checks=PROMISES, **options)


@pytest.mark.processes
def test_the_league_is_still_there_and_has_not_grown(league: League) -> None:
    assert league.measure() < MOST_MEMORY
