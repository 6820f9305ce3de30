"""A stranger without a token cannot take over a league: what it reports, polls or orders is refused."""

import asyncio
from typing import Any

import pytest

from agent_league.member import Member
from agent_league.store.events import MatchAssigned
from attacks.stranger import Stranger, refusal_of, write, write_order
from end_to_end.http_league import HttpLeague, played

TERMS = {"awaited_players": 4, "awaited_referees": 1}


async def fill(league: HttpLeague, players: int = 4) -> Member:
    """Let a referee and players of ours in, and return the referee."""
    referee = await league.add_referee()
    for _ in range(players):
        await league.add_player()
    return referee


def forged(league: HttpLeague) -> list[Any]:
    return [ended for ended in league.manager.season.results.values() if "forged" in ended.details]


def test_whoever_registers_the_endpoint_of_a_referee_again_reports_nothing() -> None:
    """S1: register again, ask for matches, report without tickets."""
    answers: list[Any] = []

    async def script(league: HttpLeague) -> None:
        stranger = Stranger(league)
        referee = await fill(league)
        token = await stranger.register_again(referee)
        poll = await stranger.ask_for_match(token)
        assert not poll["success"]
        assert poll["error"]["error_code"] == "E025"

        async def report(match_id: str) -> None:
            answers.append(await stranger.report(match_id, token, "P01"))

        attempts: set[asyncio.Task[None]] = set()
        league.events.when_kept(
            MatchAssigned, lambda event: attempts.add(asyncio.ensure_future(report(event.match_id)))
        )
        await league.play()
        await asyncio.gather(*attempts)

    league = played(script, **TERMS)
    assert len(answers) == 6
    assert all("error" in answer or "already known" in str(answer) for answer in answers)
    assert forged(league) == []
    assert league.manager.season.tally["TECHNICAL_LOSS"] == 0


def test_a_token_that_came_without_proof_reports_nothing_where_no_ticket_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S1: the same against a referee that knows no tickets, whose token is all the proof there is."""
    codes: list[str] = []

    async def script(league: HttpLeague) -> None:
        offers = league.manager.season_runner.dispatcher.offers
        monkeypatch.setattr(offers, "is_ticketless", lambda referee: True)
        stranger = Stranger(league)
        token = await stranger.register_again(await fill(league))

        async def report(match_id: str) -> None:
            answer = await stranger.report(match_id, token, "P01")
            codes.append(refusal_of(answer) if "error" in answer else "")

        attempts: set[asyncio.Task[None]] = set()
        league.events.when_kept(
            MatchAssigned, lambda event: attempts.add(asyncio.ensure_future(report(event.match_id)))
        )
        await league.play()
        await asyncio.gather(*attempts)

    league = played(script, **TERMS)
    assert set(codes) <= {"E025", ""}
    assert forged(league) == []


def test_the_first_to_register_an_endpoint_gets_none_of_the_matches_of_who_listens_there() -> None:
    """S1: the stranger is there before the referee, so that its token is the first."""
    taken: list[Any] = []

    async def script(league: HttpLeague) -> None:
        stranger = Stranger(league)
        referee = await fill(league)
        # As if the stranger had been first: its token is as good as any.
        token = str(referee.token)
        taken.append((await stranger.ask_for_match(token))["data"])
        season = asyncio.ensure_future(league.play())
        while not season.done():
            taken.append((await stranger.ask_for_match(token))["data"])
            await asyncio.sleep(0.01)
        await season

    league = played(script, **TERMS)
    assert league.manager.season.played == 6
    assert {str(data["next_match"]) for data in taken} == {"None"}


@pytest.mark.parametrize("strictness", ["tolerant", "strict"])
@pytest.mark.parametrize("method", ["assign_match", "run_match", "start_match"])
def test_an_order_that_is_planted_before_the_first_real_one_is_refused(
    strictness: str, method: str
) -> None:
    """S4: an order without a signature, with the endpoint of the stranger."""

    async def script(league: HttpLeague) -> None:
        stranger = Stranger(league)
        referee = await fill(league, 2)
        evil = "http://127.0.0.1:1/mcp"
        planted = await stranger.post(referee.endpoint, method, write_order("R1M1", evil))
        assert refusal_of(planted) == "E011"
        await league.play()

    league = played(script, awaited_players=2, awaited_referees=1, strictness=strictness)
    (ended,) = league.manager.season.results.values()
    assert ended.termination == "completed"


def test_an_announcement_that_holds_an_order_is_refused_too() -> None:
    async def script(league: HttpLeague) -> None:
        stranger = Stranger(league)
        referee = await fill(league, 2)
        evil = "http://127.0.0.1:1/mcp"
        match = {
            "match_id": "R1M1",
            "game_type": "even_odd",
            "player_A_id": "P01",
            "player_A_endpoint": evil,
            "player_B_id": "P02",
            "player_B_endpoint": evil,
            "referee_endpoint": referee.endpoint,
        }
        own = {"league_id": "any", "round_id": 1, "matches": [match]}
        order = write("ROUND_ANNOUNCEMENT", "league_manager", **own)
        assert refusal_of(await stranger.post(referee.endpoint, "notify_round", order)) == "E011"
        await league.play()

    league = played(script, awaited_players=2, awaited_referees=1)
    (ended,) = league.manager.season.results.values()
    assert ended.termination == "completed"


def test_a_stranger_cannot_make_a_referee_register_again() -> None:
    """S12: each registration costs the league an event, and the referee its token."""

    async def script(league: HttpLeague) -> None:
        stranger = Stranger(league)
        referee = await fill(league, 2)
        own = str(referee.token)
        for arguments, code in (({}, "E011"), ({"auth_token": "tok_REF01_x"}, "E012")):
            answer = await stranger.post(referee.endpoint, "register_to_league", arguments)
            assert refusal_of(answer) == code
        assert referee.token == own
        by_owner = await stranger.post(referee.endpoint, "register_to_league", {"auth_token": own})
        assert by_owner["result"]["note"] == "registered as REF01"
        await league.play()

    assert played(script, awaited_players=2, awaited_referees=1).manager.season.played == 1
