"""Members that join a league: how long they try."""

import asyncio

import pytest

from agent_league.protocol import Role
from agent_league.protocol.failures import NoAnswerError
from agent_league.running.members import run_members
from agent_league.running.serve import LOOPBACK, bind
from agent_league.running.specs import AgentSpec, LeagueLink
from free_ports import free_port
from timewarp import run_over_sockets

LONG_START = 120.0
"""Seconds that a manager may need on a very busy machine before it answers."""


async def wait_for_nobody(*, is_ours: bool) -> None:
    """Run a player whose league never answers; its process is told to stop at last."""
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(LONG_START, stop.set)
    link = LeagueLink(f"http://{LOOPBACK}:{free_port()}/mcp", is_ours=is_ours)
    await run_members([(AgentSpec(Role.PLAYER, "P01"), bind(LOOPBACK, 0))], link, stop)


def test_an_agent_of_ours_tries_to_join_as_long_as_its_league_lives(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run_over_sockets(wait_for_nobody(is_ours=True))
    assert caplog.messages == []


def test_an_agent_of_somebody_else_gives_up_after_its_attempts() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        run_over_sockets(wait_for_nobody(is_ours=False))
    assert caught.group_contains(NoAnswerError)
