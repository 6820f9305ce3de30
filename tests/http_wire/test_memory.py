import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from agent_league.http.exchange import Answer, check_answer
from agent_league.http.memory import Network
from agent_league.http.site import Site
from agent_league.protocol import LeagueError
from agent_league.protocol.failures import LateError, StatusError, UnreachableError

URL = "http://p01/mcp"


def network(handler: Callable[[bytes], Any]) -> Network:
    net = Network()
    site = Site(
        answer=lambda body, headers: handler(body),
        find_page=lambda path: None,
        too_large=lambda: Answer(413, b"too large"),
        body_limit=10,
    )
    net.host(URL, site)
    return net


def posted(handler: Callable[[bytes], Any], body: bytes = b"{}", within: float = 5.0) -> Answer:
    return asyncio.run(network(handler).post(URL, body, within))


async def later(body: bytes) -> Answer:
    await asyncio.sleep(0)
    return Answer(200, body)


def test_an_answer_comes_back_at_once_or_later() -> None:
    assert posted(lambda body: Answer(200, body)) == Answer(200, b"{}")
    assert posted(later) == Answer(200, b"{}")


def test_nobody_is_unreachable() -> None:
    async def main() -> None:
        net = network(later)
        assert await net.reaches(URL, 1.0)
        net.unhost(URL)
        assert not await net.reaches(URL, 1.0)
        with pytest.raises(UnreachableError, match="nobody is at"):
            await net.post(URL, b"", 1.0)

    asyncio.run(main())


def test_a_body_over_the_limit_is_answered_for_the_agent() -> None:
    assert posted(later, b"x" * 11) == Answer(413, b"too large")


@pytest.mark.parametrize("status", [302, 429, 503])
def test_a_server_that_is_down_is_unreachable(status: int) -> None:
    with pytest.raises(UnreachableError, match=f"answered HTTP {status}"):
        posted(lambda body: Answer(status, b""))


def test_a_handler_that_raises_is_a_server_that_answers_so() -> None:
    def fail(body: bytes) -> Answer:
        raise KeyError(body)

    assert posted(fail).status == 500


@pytest.mark.parametrize(
    ("status", "body", "says_why"),
    [
        (500, b'{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"},"id":1}', True),
        (503, b'{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"},"id":1}', True),
        (500, b'{"status":"error"}', True),
        (500, b"Internal Server Error", False),
        (502, b'{"detail":"Bad Gateway"}', False),
        (503, b"", False),
    ],
)
def test_a_server_that_fails_has_answered_if_its_agent_says_why(
    status: int, body: bytes, says_why: bool
) -> None:
    answer = Answer(status, body)
    if says_why:
        assert check_answer(answer, "p01") is answer
    else:
        with pytest.raises(StatusError, match=f"p01 answered HTTP {status}"):
            check_answer(answer, "p01")


def test_a_late_handler_is_not_stopped_and_its_failure_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        go, gone = asyncio.Event(), asyncio.Event()

        async def fail(body: bytes) -> Answer:
            await go.wait()
            gone.set()
            raise KeyError(body)

        with pytest.raises(LateError, match=r"within 0\.01 s"):
            await network(fail).post(URL, b"", 0.01)
        go.set()
        await asyncio.wait_for(gone.wait(), 5.0)
        await asyncio.sleep(0)

    with caplog.at_level(logging.ERROR, "agent_league"):
        asyncio.run(main())
    assert "an answer failed" in caplog.text


def test_an_answer_that_fails_on_purpose_is_told_in_a_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(body: bytes) -> Answer:
        raise LeagueError("the disk is full")

    with caplog.at_level(logging.ERROR, "agent_league"):
        assert posted(fail).status == 500
    assert "an answer failed: the disk is full" in caplog.text
    assert "Traceback" not in caplog.text
