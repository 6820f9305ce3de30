"""An agent that registers again, and the word that it gets."""

import asyncio

import msgspec
import pytest

from agent_league.http.exchange import Answer
from agent_league.protocol import Role
from league_box import LEAGUE_URL, Box, Guest
from scripted import Scripted
from timewarp import run


async def register(box: Box, guest: Guest) -> str:
    """Return the status that the league answers to a registration without a token."""
    guest.token = None
    frame = {
        "jsonrpc": "2.0",
        "method": guest.application().route.tool,
        "params": msgspec.to_builtins(guest.application()),
        "id": 1,
    }
    answer: Answer = await box.net.post(LEAGUE_URL, msgspec.json.encode(frame), 5)
    return str(msgspec.json.decode(answer.body)["result"]["status"])


def statuses(role: Role, pauses: list[float]) -> list[str]:
    """Return the statuses of an agent that registers after each of *pauses*."""

    async def main() -> list[str]:
        box = Box(guests=2)
        guest = box.guest(Scripted("?"), role)
        await box.open()
        got = []
        for pause in pauses:
            await asyncio.sleep(pause)
            got.append(await register(box, guest))
        await box.close()
        return got

    return run(main())


@pytest.mark.parametrize("role", [Role.PLAYER, Role.REFEREE])
@pytest.mark.parametrize("pause", [0.0, 1.0, 30.0])
def test_an_agent_that_registers_a_few_times_is_accepted_each_time(
    role: Role, pause: float
) -> None:
    assert set(statuses(role, [pause] * 7)) == {"ACCEPTED"}


def test_an_agent_that_is_restarted_all_day_is_always_accepted() -> None:
    assert set(statuses(Role.PLAYER, [11.0] * 50)) == {"ACCEPTED"}


def test_an_agent_that_goes_on_and_on_hears_the_other_word_once() -> None:
    got = statuses(Role.PLAYER, [0.2] * 40)
    assert [number for number, status in enumerate(got, 1) if status != "ACCEPTED"] == [8]
    assert got[7] == "REGISTERED"


def test_an_agent_that_stopped_on_the_other_word_is_accepted_when_it_is_repaired() -> None:
    assert statuses(Role.PLAYER, [*[0.2] * 8, 60.0])[-1] == "ACCEPTED"
