"""The plain starters on a network where connections break and ports are taken."""

import socket
import struct
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from starters.programs import NOWHERE, line_with, posted, started, written

pytestmark = pytest.mark.slow

PLAIN_AGENTS = [("player", "python-plain"), ("player", "js"), ("referee", "python-plain")]
RESET = struct.pack("ii", 1, 0)
"""Makes the kernel reset a connection that is closed."""


def reset_connection(url: str, sent: bytes) -> None:
    host, port = urlsplit(url).hostname, urlsplit(url).port
    assert host is not None
    with socket.create_connection((host, port or 80)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.sendall(sent)


@pytest.mark.parametrize(("kind", "lang"), PLAIN_AGENTS)
def test_a_connection_that_the_other_side_resets_is_not_worth_a_word(
    kind: str, lang: str, tmp_path: Path
) -> None:
    program = written(tmp_path, kind, "Ada", "--lang", lang)
    with started(program, "--league", NOWHERE, "--port", "0") as agent:
        url = line_with(agent, "listens at").split()[-1]
        for sent in (
            b"",
            b"POST /mcp HTTP/1.1\r\n",
            b"POST /mcp HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
        ):
            reset_connection(url, sent)
        assert posted(url, b"{")[1]["error"]["code"] == -32700
        agent.kill()
        assert agent.stdout is not None
        printed = agent.stdout.read()
    assert "Traceback" not in printed
    assert "Reset" not in printed


@pytest.mark.parametrize(("kind", "lang"), PLAIN_AGENTS)
def test_a_port_that_is_taken_is_told_with_the_option_for_another(
    kind: str, lang: str, tmp_path: Path
) -> None:
    program = written(tmp_path, kind, "Ada", "--lang", lang)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with started(program, "--league", NOWHERE, "--port", port) as agent:
            line = line_with(agent, "cannot listen")
            assert agent.wait(20) == 1
    assert f"cannot listen at port {port}" in line
    assert line.rstrip().endswith("try --port 0")
