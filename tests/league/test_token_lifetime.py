"""A league that takes longer than its tokens are valid ends all the same."""

import asyncio
from typing import Any

import pytest

from agent_league.clock import format_time
from agent_league.protocol.failures import RefusedError
from agent_league.store.events import MatchEnded, TokenExtended, TokenIssued
from guests.guest_box import GuestBox
from league_box import Box
from timewarp import clock, now, run

HALF_AN_HOUR = 0.5
LONGEST = 24 * 3600.0


def outlived(seconds_between_rounds: float) -> Box:
    """Play three rounds, with that much time before each, in a league of short-lived tokens."""
    box = Box(
        ["random"] * 4,
        announcement_lead=seconds_between_rounds,
        token_hours=HALF_AN_HOUR,
    )
    run(box.play(), limit=LONGEST)
    return box


def test_a_token_that_is_used_now_and_then_stays_valid() -> None:
    box = outlived(1000)
    assert box.season.played == 6
    assert {event.agent_id for event in box.happened(TokenExtended)} == {"REF01"}
    assert box.happened(TokenIssued) == []
    assert {ended.termination for ended in box.happened(MatchEnded)} == {"completed"}


def test_a_referee_whose_token_is_refused_registers_again_and_reports_again() -> None:
    box = outlived(5000)
    assert box.season.played == 6
    assert {event.agent_id for event in box.happened(TokenIssued)} == {"REF01"}
    assert {ended.termination for ended in box.happened(MatchEnded)} == {"completed"}
    assert len(box.happened(MatchEnded)) == 6


def test_reports_that_are_refused_at_once_cost_one_registration() -> None:
    box = outlived(5000)
    assert len(box.happened(TokenIssued)) == 3  # once for the two matches of each round


def test_a_player_whose_token_is_refused_asks_again_with_a_new_one() -> None:
    async def main() -> None:
        box = Box(["random"], token_hours=HALF_AN_HOUR)
        await box.open()
        await box.fill()
        (player,) = box.players
        old = player.token
        await asyncio.sleep(5000)
        answer = await player.query("GET_STANDINGS")
        assert answer.success
        assert player.token != old
        await box.close()

    run(main(), limit=LONGEST)


def test_a_token_that_has_expired_is_refused_and_not_extended() -> None:
    async def main() -> None:
        box = Box(["random"], token_hours=HALF_AN_HOUR)
        await box.open()
        await box.fill()
        (player,) = box.players
        await asyncio.sleep(5000)
        with pytest.raises(RefusedError, match="E012"):
            await player._ask_league("GET_STANDINGS", {})  # what a stranger with its token would do
        assert box.happened(TokenExtended) == []
        await box.close()

    run(main(), limit=LONGEST)


def test_a_guest_that_goes_on_calling_is_not_locked_out() -> None:
    async def main() -> Any:
        box = GuestBox(token_hours=HALF_AN_HOUR, announcement_lead=4000)
        season = await box.begin()
        (guest,) = box.callers
        while (reply := await guest.wait(20))["status"] == "NO_TURN_YET":
            assert now() < 5000
        over = (await guest.move(reply, reply["legal_moves"][0]))["next"]
        while over["status"] != "LEAGUE_OVER":
            over = await guest.wait()
        await season
        await box.close()
        extended = [event.expires for event in box.happened(TokenExtended)]
        assert extended
        assert max(extended) > format_time(clock())
        return over

    assert run(main(), limit=LONGEST)["your_rank"] in {1, 2}
