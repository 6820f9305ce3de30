"""A league that has several managers: its agents try the addresses in turn."""

import json

import pytest

from agent_league.cli.which_league import find_addresses
from agent_league.http.exchange import Answer
from agent_league.protocol import RpcCode
from agent_league.running.errors import UsageError
from agent_league.running.folder import Folder
from arena import Arena
from league_box import LEAGUE_URL
from scripted import Behaviour, Call, Scripted, behaves, hosted, in_turn
from timewarp import now, run

STANDBY_URL = "http://standby/mcp"
REPORT, REGISTER = "MATCH_RESULT_REPORT", "REFEREE_REGISTER_REQUEST"


def fails(call: Call) -> Answer:
    """Answer as a manager does that can write nothing more."""
    problem = {"code": int(RpcCode.INTERNAL_ERROR), "message": "internal error"}
    return Answer(500, json.dumps({"jsonrpc": "2.0", "error": problem, "id": None}).encode())


def make_arena(first_league: Behaviour = behaves) -> tuple[Arena, Scripted]:
    arena = Arena(league={REPORT: first_league})
    standby = Scripted("LM", {REGISTER: arena.league.on[REGISTER]})
    arena.referee.other_urls = [STANDBY_URL]
    return arena, standby


def test_a_referee_registers_with_the_manager_that_leads() -> None:
    arena, standby = make_arena()
    arena.net.unhost(LEAGUE_URL)
    arena.net.host(STANDBY_URL, hosted(standby))
    run(arena.referee.register())
    assert arena.referee.league_url == STANDBY_URL
    assert len(standby.messages(REGISTER)) == 1


def test_a_result_goes_to_the_manager_that_took_over() -> None:
    async def main() -> float:
        arena, standby = make_arena()
        await arena.referee.register()
        arena.net.unhost(LEAGUE_URL)
        arena.net.host(STANDBY_URL, hosted(standby))
        await arena.start()
        await standby.has_heard(REPORT)
        return now()

    assert run(main()) < 1  # nothing was waited for


def test_a_manager_that_fails_has_refused_nothing() -> None:
    async def main() -> list[int]:
        arena, standby = make_arena(in_turn(fails, fails, behaves))
        await arena.referee.register()
        await arena.start()
        await arena.league.has_heard(REPORT, 3)
        return [len(league.messages(REPORT)) for league in (arena.league, standby)]

    assert run(main()) == [3, 0]


def test_several_addresses_come_with_commas() -> None:
    urls = find_addresses("one:8000, http://two:8001/mcp", Folder())
    assert urls == ["http://one:8000/mcp", "http://two:8001/mcp"]


def test_what_is_no_address_is_named() -> None:
    with pytest.raises(UsageError, match="'cup' is not an address"):
        find_addresses("http://one:8000,cup", Folder())
