"""Who is suspended, and how an agent that is suspended comes back."""

import asyncio
from collections.abc import Iterable

import pytest

from agent_league.http.exchange import Answer
from agent_league.league.liveness import RETURN_PATIENCE
from agent_league.member import Member
from agent_league.protocol import Role
from agent_league.protocol.play import StartMatch
from agent_league.serving.site import make_site
from agent_league.store import StoredEvent
from agent_league.store.events import AgentRecovered, AgentSuspended, MatchEnded
from league_box import LEAGUE_URL, Box, Guest, player_url, referee_url
from scripted import Behaviour, Scripted, behaves, breaks, in_turn, stays_silent, takes
from timewarp import now, run

JOIN, CHOOSE, START = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "START_MATCH"
FOUR = ["random", "frequency", "always_even", "alternating"]


async def hang(body: bytes) -> Answer:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets the event")


def matches_of(box: Box, player: str) -> list[MatchEnded]:
    ended = [event for event in box.happened(MatchEnded) if player in event.players]
    return sorted(ended, key=lambda event: event.round_id)


def endings(matches: Iterable[MatchEnded]) -> set[str]:
    return {ended.termination for ended in matches}


@pytest.mark.parametrize("seconds", [3, 9, 30])
def test_a_player_that_was_away_plays_its_next_match(seconds: int) -> None:
    async def main() -> None:
        box = Box(FOUR * 3, guests=1, announcement_lead=4.0)
        guest = box.guest(Scripted("?"))
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(1)
        guest.leave()
        await asyncio.sleep(seconds)
        guest.listen()
        await guest.register()  # as a program does that is started again
        back_at = len(box.happened(MatchEnded))
        await season
        await box.close()
        later = [e for e in box.happened(MatchEnded)[back_at:] if guest.name in e.players]
        # A match that had begun while it was away may still be lost.
        assert endings(sorted(later, key=lambda event: event.round_id)[1:]) == {"completed"}
        if seconds == 3:
            assert box.happened(AgentSuspended) == []
            assert endings(matches_of(box, guest.name)) == {"completed"}

    run(main())


@pytest.mark.parametrize(("missed", "suspended"), [(1, False), (4, False), (5, True)])
def test_five_missed_heartbeats_in_a_row_suspend_and_fewer_do_not(
    missed: int, suspended: bool
) -> None:
    async def main() -> None:
        box = Box(FOUR, announcement_lead=30.0)
        listens, looks = box.net.listens, [False] * missed

        async def sometimes(url: str, within: float) -> bool:
            if url == player_url(2) and looks:
                return looks.pop()
            return await listens(url, within)

        box.net.listens = sometimes  # type: ignore[method-assign]  # the heartbeat's own way
        await box.play()
        away = [event.agent_id for event in box.happened(AgentSuspended)]
        assert away == ["P02"] * suspended
        assert endings(matches_of(box, "P02")) == {"completed"}

    run(main())


def test_a_player_that_is_always_too_slow_loses_but_is_asked_in_every_match() -> None:
    box = Box(FOUR, guests=1)
    guest = box.guest(Scripted("?", {CHOOSE: takes(31)}))
    run(box.play())
    assert [ended.termination for ended in matches_of(box, guest.name)] == ["timeout"] * 4
    assert box.happened(AgentSuspended) == []


def test_a_player_that_hangs_is_suspended_and_its_open_port_does_not_bring_it_back() -> None:
    box = Box(FOUR * 2, guests=1, announcement_lead=20.0)
    guest = box.guest(hang)
    run(box.play())
    assert [event.agent_id for event in box.happened(AgentSuspended)] == [guest.name]
    assert box.happened(AgentRecovered) == []
    ends = [ended.termination for ended in matches_of(box, guest.name)]
    assert ends.count("timeout") <= 2
    assert set(ends[2:]) == {"suspended"}


def test_a_player_that_hangs_only_in_matches_is_not_taken_back_at_once_each_time() -> None:
    async def main() -> None:
        box = Box(FOUR, guests=1)
        guest = box.guest(Scripted("?", {JOIN: stays_silent}))
        await box.open()
        await box.fill()
        await asyncio.sleep(1)  # everybody has answered
        liveness = box.manager.season_runner.liveness
        recovered: asyncio.Queue[AgentRecovered] = asyncio.Queue()
        box.events.when_kept(AgentRecovered, recovered.put_nowait)
        delays = []
        for _ in range(4):
            suspended_at = now()
            await liveness.suspend(box.season.roster[guest.name], "test")
            await recovered.get()
            delays.append(now() - suspended_at)
        await box.close()
        assert delays == [1, 2, 4, 8]

    run(main())


@pytest.mark.parametrize("script", [stays_silent, breaks], ids=["silent", "down"])
def test_a_referee_that_leaves_five_orders_in_a_row_unanswered_is_suspended(
    script: Behaviour,
) -> None:
    box = Box(FOUR, 1, awaited_referees=2, legs=3, announcement_lead=5.0)
    guest = box.guest(Scripted("?", {START: script}), Role.REFEREE)
    run(box.play())
    assert endings(box.happened(MatchEnded)) == {"completed"}
    suspended = [event.agent_id for event in box.happened(AgentSuspended)]
    assert suspended[:1] == [guest.name]
    orders = [sent for sent in box.sent(StartMatch) if sent.url == guest.url]
    assert len(orders) >= 5


def test_a_referee_that_misses_one_order_is_not_suspended() -> None:
    box = Box(FOUR, 1, awaited_referees=2, legs=2)
    box.guest(Scripted("?", {START: in_turn(stays_silent, breaks)}), Role.REFEREE)
    run(box.play())
    assert box.happened(AgentSuspended) == []
    assert endings(box.happened(MatchEnded)) == {"completed"}
    assert {sent.url for sent in box.sent(StartMatch)} > {referee_url(1)}


def test_a_match_lost_as_suspended_is_no_new_absence() -> None:
    async def main() -> None:
        box = Box(FOUR, guests=1, announcement_lead=3.0)
        guest: Guest = box.guest(Scripted("?", {JOIN: behaves}))
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await box.manager.season_runner.liveness.suspend(box.season.roster[guest.name], "test")
        await season
        await box.close()
        assert len(box.happened(AgentSuspended)) == 1

    run(main())


# A league that was interrupted


def interrupted(box: Box) -> Box:
    """Return a league that goes on where *box* was stopped; nobody listens but its agents."""
    again = Box(FOUR, seed="box", awaited_players=len(box.season.players))
    again.events.replay(StoredEvent(seq, event) for seq, event in enumerate(box.events, 1))
    again.net.host(LEAGUE_URL, make_site(again.manager))
    for member, before in zip(again.members, box.members, strict=True):
        member.resume(before.identity)
    return again


async def come_back(box: Box, member: Member) -> None:
    """Listen and register again, as an agent does that is started again."""
    box.net.host(member.endpoint, make_site(member))
    await member.register()


async def stopped_in_round_two() -> Box:
    box = Box(FOUR, announcement_lead=10.0)
    await box.open()
    await box.fill()
    season = asyncio.ensure_future(box.manager.run())
    await asyncio.sleep(15)
    season.cancel()
    await box.close()
    assert box.season.closed_rounds == 1
    return box


@pytest.mark.parametrize("pause", [1, 20, 50])
def test_a_resumed_league_waits_as_long_as_agents_come_back(pause: int) -> None:
    async def main() -> None:
        box = interrupted(await stopped_in_round_two())
        season = asyncio.ensure_future(box.manager.run())
        for member in box.members:
            await asyncio.sleep(pause)
            await come_back(box, member)
        await season
        await box.close()
        assert box.happened(AgentSuspended) == []
        assert endings(box.happened(MatchEnded)) == {"completed"}

    run(main())


def test_a_resumed_league_goes_on_without_an_agent_that_does_not_come_back() -> None:
    async def main() -> None:
        box = interrupted(await stopped_in_round_two())
        began = now()
        for member in box.members[:-1]:
            await come_back(box, member)
        await box.manager.run()
        await box.close()
        assert [event.agent_id for event in box.happened(AgentSuspended)] == ["P04"]
        assert RETURN_PATIENCE <= now() - began < RETURN_PATIENCE + 30

    run(main())
