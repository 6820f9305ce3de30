"""A league behind nginx with TLS: agents, pages, streams and MCP clients all go through it."""

import json
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from cli.league_command import line_with
from cli.league_process import PLAIN, league, running
from deployment.nginx import Nginx, hindrance, nginx
from free_ports import free_port

WAITS = """import asyncio, pathlib
opened = pathlib.Path(__file__).with_suffix(".open")
async def strategy(situation):
    while not opened.exists():
        await asyncio.sleep(0.02)
    return "even"
"""


@pytest.fixture(autouse=True)
def _nginx_is_there() -> None:
    if why := hindrance():
        pytest.skip(why)


class Proxied:
    """A manager behind nginx, and what its clients do."""

    def __init__(self, front: Nginx, manager_port: int) -> None:
        self.front, self.port = front, manager_port
        self.context = ssl.create_default_context(cafile=str(front.certificate))

    def open(self, path: str, **options: Any) -> Any:
        url = f"{self.front.url}{path}"
        request = urllib.request.Request(url, **options)  # noqa: S310 - it begins with https
        return urllib.request.urlopen(request, context=self.context, timeout=60)  # noqa: S310 - as above

    def refuses(self, path: str, **options: Any) -> int:
        with pytest.raises(urllib.error.HTTPError) as refused:
            self.open(path, **options)
        with closing(refused.value):
            return refused.value.code

    def manager(self, *more: str) -> tuple[str, ...]:
        endpoint = ("--endpoint", f"{self.front.url}/mcp")
        return ("manager", "--port", str(self.port), "--players", "3", *endpoint, *more)

    def member(self, role: str, *more: str) -> tuple[str, ...]:
        return (role, self.front.url, "--port", "0", "--patient", *more)


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Proxied]:
    standing_by, leading = free_port(), free_port()
    with nginx(tmp_path / "nginx", standing_by, leading) as front:
        trusts = {"SSL_CERT_FILE": str(front.certificate)}
        with mock.patch.dict(PLAIN, trusts), mock.patch.dict(os.environ, trusts):
            yield Proxied(front, leading)


@contextmanager
def playing(proxied: Proxied, folder: Path, *more: str) -> Iterator[Any]:
    """Run a manager and its members until the test ends; nobody moves until the gate is open."""
    strategy = folder / "waits.py"
    strategy.write_text(WAITS, encoding="utf-8")
    kept = ("--shared", str(folder / "SHARED"))
    with ExitStack() as stack:
        manager = stack.enter_context(running(*proxied.manager(*kept, *more)))
        line_with(manager, "Waiting")
        stack.enter_context(running(*proxied.member("referee", *kept)))
        for name in ("Ada", "Bob", "Eve"):
            chosen = ("--name", name, "--strategy", str(strategy))
            player = stack.enter_context(running(*proxied.member("player", *kept, *chosen)))
            assert proxied.front.url in line_with(player, " is in ")
        yield manager


def open_gate(folder: Path) -> None:
    (folder / "waits.open").touch()


def test_a_league_is_played_through_the_proxy_while_its_pages_are_live(
    proxied: Proxied, tmp_path: Path
) -> None:
    """The first manager of the two in nginx's list refuses connections, as one that stands by."""
    with playing(proxied, tmp_path) as manager:
        with proxied.open("/stream") as stream:
            assert stream.headers["Content-Type"].startswith("text/event-stream")
            first = stream.readline()
            open_gate(tmp_path)
            lines = [first, *(stream.readline() for _ in range(10))]
        assert any(line.startswith(b"data:") for line in lines)
        reply, _ = manager.communicate()
        assert "Champion" in reply
    verified = league("verify", "--shared", str(tmp_path / "SHARED"))
    assert verified.returncode == 0, verified.stdout


def test_pages_tools_and_records_come_through_the_proxy(proxied: Proxied, tmp_path: Path) -> None:
    with playing(proxied, tmp_path):
        with proxied.open("/") as page:
            assert b"Ada" in page.read()
        with proxied.open("/live.json") as live:
            assert json.load(live)
        listed = league("mcp", "ls", proxied.front.url)
        assert "get_standings" in listed.stdout, listed.stderr
        called = league("mcp", "call", "LM.get_standings", "--league", proxied.front.url)
        assert called.returncode == 0, called.stderr
        status = league("status", proxied.front.url)
        assert status.returncode == 0, status.stderr


def test_the_proxy_and_the_manager_refuse_what_does_not_belong_there(
    proxied: Proxied, tmp_path: Path
) -> None:
    message = {"Content-Type": "application/json"}
    with playing(proxied, tmp_path):
        long = b'{"x": "' + b"x" * 5_000_000 + b'"}'
        assert proxied.refuses("/mcp", data=long, headers=message) == 413
        elsewhere = {**message, "Host": "evil.example.org"}
        assert proxied.refuses("/mcp", data=b"{}", headers=elsewhere) == 421
        foreign = {**message, "Origin": "https://evil.example.org"}
        assert proxied.refuses("/mcp", data=b"{}", headers=foreign) == 403
