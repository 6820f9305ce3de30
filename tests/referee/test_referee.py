import asyncio
import logging
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from agent_league.dialects.v2.session import V2Session
from agent_league.member import NotAdmittedError
from agent_league.peers.line import Line
from agent_league.protocol import Patience, tokens
from agent_league.protocol.failures import RefusedError, UnreachableError
from agent_league.protocol.play import Retry
from agent_league.protocol.rounds import Champion, FinalStanding, LeagueCompleted
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json
from arena import REFEREE_URL, Arena
from league_box import LEAGUE_URL
from protocol.samples import BY_LEAGUE
from scripted import (
    STAMP,
    Scripted,
    behaves,
    breaks,
    garbles,
    hosted,
    in_turn,
    refuses,
    stays_silent,
    takes,
)
from timewarp import now, run

JOIN, CHOOSE, OVER = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"
REPORT, REGISTER = "MATCH_RESULT_REPORT", "REFEREE_REGISTER_REQUEST"


# Joining a league


def test_a_referee_registers_and_goes_by_the_id_it_is_given() -> None:
    async def main() -> Arena:
        arena = Arena(max_concurrent_matches=3)
        assert not arena.referee.is_ready()
        await arena.referee.register()
        assert arena.referee.is_ready()
        return arena

    arena = run(main())
    (request,) = arena.league.messages(REGISTER)
    assert request["referee_meta"]["max_concurrent_matches"] == 3
    assert request["referee_meta"]["contact_endpoint"] == REFEREE_URL
    assert "auth_token" not in request
    assert arena.referee.sender == "referee:REF01"


def test_a_referee_that_is_not_admitted_is_told_why() -> None:
    def rejects(call: Any) -> Any:
        refusal = {"status": "REJECTED", "referee_id": None, "reason": "Registration closed"}
        kind = {"message_type": "REFEREE_REGISTER_RESPONSE", "sender": "league_manager"}
        return call.returns({**STAMP, **kind, **refusal})

    arena = Arena(league={REGISTER: rejects})
    with pytest.raises(NotAdmittedError, match="Registration closed"):
        run(arena.referee.register())
    assert not arena.referee.is_ready()


def test_a_league_that_is_not_there_yet_is_tried_again() -> None:
    async def main() -> None:
        arena = Arena()
        site = arena.league
        arena.net.unhost(LEAGUE_URL)
        with pytest.raises(UnreachableError):
            await arena.referee.register()
        assert now() == 6
        assert site.received == []

    run(main())


def test_a_referee_can_be_told_by_hand_to_register() -> None:
    async def main() -> Json:
        arena = Arena()
        reply = await arena.use("register_to_league")
        assert arena.referee.is_ready()
        return reply

    assert "REF01" in run(main())["note"]


# Taking matches


async def refused(arena: Arena, **changes: Any) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        await arena.ask(arena.order(**changes))
    assert caught.value.data["message_type"] == "LEAGUE_ERROR"
    return caught.value


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"auth_token": None}, "E011"),
        ({"auth_token": ""}, "E011"),
        ({"auth_token": "tkt_R1M1"}, "E012"),
        ({"token": tokens.new_token("REF01")}, "E012"),
        ({"auth_token": "tkt_é"}, "E012"),
    ],
    ids=["missing", "empty", "the ticket itself", "another league's", "beyond ASCII"],
)
def test_an_order_that_the_league_did_not_write_is_refused(
    changes: dict[str, Any], code: str
) -> None:
    async def main() -> None:
        arena = Arena()
        await arena.referee.register()
        error = await refused(arena, **changes)
        assert error.code == code
        assert error.data["original_message_type"] == "START_MATCH"
        await asyncio.sleep(60)
        assert arena.first.received == arena.second.received == []

    run(main())


def test_a_match_that_is_ordered_anew_with_another_endpoint_is_played_there() -> None:
    """What was played elsewhere is not the match that the league means, and is not reported."""

    async def main() -> Arena:
        arena = Arena(first={CHOOSE: stays_silent})
        await arena.start()
        await arena.first.has_heard(CHOOSE)
        moved = Scripted("P01")
        arena.net.host("http://p01-moved/mcp", hosted(moved))
        players = [arena.contestant("P01", endpoint="http://p01-moved/mcp")]
        players.append(arena.contestant("P02"))
        assert (await arena.start(players=players, ticket="tkt_again")).status == "ACCEPTED"
        await arena.league.has_heard(REPORT)
        await asyncio.sleep(200)
        assert moved.kinds() == [JOIN, CHOOSE, OVER]
        assert OVER not in arena.first.kinds()
        await arena.referee.close()
        return arena

    report = run(main()).report
    assert report["ticket"] == "tkt_again"
    assert report["result"]["termination"] == "completed"


def test_an_order_that_was_written_for_another_match_or_ticket_is_refused() -> None:
    async def main() -> None:
        arena = Arena()
        await arena.referee.register()
        genuine = arena.order(match_id="R1M1").auth_token
        for changes in ({"match_id": "R1M2"}, {"ticket": "tkt_forged"}):
            error = await refused(arena, auth_token=genuine, **changes)
            assert error.code == "E012"

    run(main())


def test_a_referee_that_has_not_registered_takes_no_matches() -> None:
    async def main() -> None:
        error = await refused(Arena())
        assert error.code == "E013"

    run(main())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game_type": "chess"}, "Unsupported game type"),
        ({"options": {"low": 1, "high": 9}}, "Unplayable options"),
        ({"options": {"dice": 2}}, "Unplayable options"),
        ({"game_type": "tic_tac_toe", "options": {"size": 4}}, "Unplayable options"),
        ({"players": []}, "needs 2 players"),
    ],
)
def test_a_match_that_cannot_be_played_is_refused_with_a_reason(
    changes: dict[str, Any], reason: str
) -> None:
    async def main() -> None:
        arena = Arena()
        reply = await arena.start(**changes)
        assert reply.status == "REJECTED"
        assert reply.reason is not None
        assert reason in reply.reason
        assert (await arena.start()).status == "ACCEPTED"
        await arena.referee.close()

    run(main())


def test_a_game_that_this_referee_did_not_offer_is_refused() -> None:
    async def main() -> None:
        reply = await Arena(game_types=["even_odd"]).start(game_type="tic_tac_toe")
        assert (reply.status, reply.reason) == ("REJECTED", "Unsupported game type")

    run(main())


def test_a_referee_takes_as_many_matches_at_once_as_it_offered() -> None:
    async def main() -> None:
        arena = Arena({CHOOSE: takes(10)}, max_concurrent_matches=2)
        given = [await arena.start(match_id=f"R1M{number}") for number in (1, 2, 3)]
        assert [reply.status for reply in given] == ["ACCEPTED", "ACCEPTED", "REJECTED"]
        assert given[2].reason is not None
        await arena.league.has_heard(REPORT, 2)
        assert now() == 10
        assert (await arena.start(match_id="R1M3")).status == "ACCEPTED"
        await arena.league.has_heard(REPORT, 3)

    run(main())


def test_a_match_that_only_waits_to_be_reported_takes_no_room() -> None:
    async def main() -> None:
        arena = Arena(league={REPORT: stays_silent}, max_concurrent_matches=1)
        await arena.start(match_id="R1M1")
        await arena.first.has_heard(OVER)
        assert (await arena.start(match_id="R1M2")).status == "ACCEPTED"
        await arena.referee.close()

    run(main())


def test_the_same_order_twice_is_accepted_twice_and_played_once() -> None:
    async def main() -> Arena:
        arena = Arena({JOIN: takes(2)})
        order = arena.order()
        await arena.referee.register()
        replies = [await arena.ask(order), await arena.ask(order)]
        assert [reply.status for reply in replies] == ["ACCEPTED", "ACCEPTED"]
        await asyncio.sleep(100)
        return arena

    arena = run(main())
    assert len(arena.first.messages(JOIN)) == 1
    assert arena.report["match_id"] == "R1M1"


def test_an_order_with_a_new_ticket_for_a_running_match_is_reported_with_that_ticket() -> None:
    # The league writes a new ticket when its first order seemed lost, and takes no other.
    async def main() -> Arena:
        arena = Arena({JOIN: takes(2)})
        await arena.start(ticket="tkt_first")
        assert (await arena.start(ticket="tkt_second")).status == "ACCEPTED"
        await arena.league.has_heard(REPORT)
        await arena.referee.close()
        return arena

    assert run(main()).report["ticket"] == "tkt_second"


# Reporting


def reported(behaviour: Any, until: float = 200.0, *, signs: bool = True) -> list[float]:
    """Return when a league that *signs* was sent the report, within so many seconds."""

    async def main() -> list[float]:
        arena = Arena(league={REPORT: behaviour})
        await arena.start()
        arena.referee.league_signs = signs
        await asyncio.sleep(until)
        await arena.referee.close()
        reports = [{**one, "timestamp": ""} for one in arena.league.messages(REPORT)]
        assert all(report == reports[0] for report in reports)
        return arena.league.times(REPORT)

    return run(main())


def test_a_report_that_is_acknowledged_is_sent_once() -> None:
    assert reported(behaves) == [0]


@pytest.mark.parametrize("fails", [breaks, garbles], ids=["down", "garbled"])
def test_a_report_is_repeated_until_it_is_acknowledged(fails: Any) -> None:
    assert reported(in_turn(fails, fails, fails, behaves)) == [0, 2, 6, 14]


def test_a_league_that_stays_silent_is_told_again_after_each_wait() -> None:
    silence = in_turn(stays_silent, stays_silent, behaves)
    assert reported(silence, signs=True) == [0, 12, 26]


def test_a_league_that_does_not_sign_may_take_longer_to_answer_a_report() -> None:
    silence = in_turn(stays_silent, stays_silent, behaves)
    assert reported(silence, signs=False) == [0, 62, 126]


def test_the_waits_between_two_reports_do_not_grow_for_ever() -> None:
    times = reported(breaks, until=600.0)
    waits = [later - earlier for earlier, later in pairwise(times[4:])]
    assert len(times) > 15
    assert max(waits) <= 40  # half a minute, and at worst the rest of an open circuit


@pytest.mark.parametrize(
    ("code", "times"),
    [("E012", [0, 0]), ("E025", [0]), ("E015", [0])],
    ids=["once more with a new token", "not allowed", "no such match"],
)
def test_a_report_that_is_refused_is_not_repeated(
    code: str, times: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "agent_league"):
        assert reported(refuses(-32012, {"error_code": code})) == times
    assert "refuses the result of R1M1" in caplog.text


# A match step by step

STEP = {"match_id": "R1M1", "ticket": "tkt_R1M1"}


async def by_hand(arena: Arena, **changes: Any) -> None:
    assert (await arena.start(auto=False, **changes)).status == "ACCEPTED"
    await asyncio.sleep(1)


def test_a_match_can_be_taken_step_by_step_through_its_states() -> None:
    async def main() -> Arena:
        arena = Arena()
        await by_hand(arena)
        assert arena.first.kinds() == [JOIN]
        assert (await arena.use("collect_choices", **STEP))["state"] == "DRAWING_NUMBER"
        assert arena.first.kinds() == [JOIN, CHOOSE]
        assert (await arena.use("draw_number", **STEP))["state"] == "FINISHED"
        assert arena.first.kinds() == [JOIN, CHOOSE]
        final = await arena.use("finalize_match", **STEP)
        await arena.league.has_heard(REPORT)
        assert final["game_result"] == arena.first.messages(OVER)[0]["game_result"]
        assert final["match_id"] == "R1M1"
        return arena

    arena = run(main())
    assert arena.first.kinds() == arena.second.kinds() == [JOIN, CHOOSE, OVER]
    assert arena.result["termination"] == "completed"


def test_a_match_by_hand_goes_no_further_than_it_is_taken() -> None:
    async def main() -> None:
        arena = Arena()
        await by_hand(arena)
        await asyncio.sleep(3000)
        assert arena.first.kinds() == [JOIN]
        assert arena.league.messages(REPORT) == []

    run(main())


def test_a_game_of_turns_is_stepped_once_for_each_turn() -> None:
    async def main() -> None:
        arena = Arena()
        await by_hand(arena, game_type="tic_tac_toe")
        states = []
        for _ in range(7):
            await arena.use("collect_choices", **STEP)
            states.append((await arena.use("draw_number", **STEP))["state"])
        assert states == ["COLLECTING_CHOICES"] * 6 + ["FINISHED"]
        final = await arena.use("finalize_match", **STEP)
        assert final["game_result"]["winner_player_id"] == "P01"
        await arena.referee.close()

    run(main())


@pytest.mark.parametrize(
    ("tool", "phase"),
    [
        ("draw_number", "COLLECTING_CHOICES"),
        ("finalize_match", "COLLECTING_CHOICES"),
    ],
)
def test_a_step_out_of_turn_is_refused(tool: str, phase: str) -> None:
    async def main() -> None:
        arena = Arena()
        await by_hand(arena)
        error = await arena.use(tool, **STEP)
        assert error["data"]["error_code"] == "E025"
        assert phase in error["data"]["detail"]

    run(main())


def test_choices_are_collected_once_both_have_taken_their_seats() -> None:
    async def main() -> None:
        arena = Arena({JOIN: takes(4)})
        await by_hand(arena)
        assert arena.second.kinds() == [JOIN]
        assert (await arena.use("collect_choices", **STEP))["status"] == "ok"
        assert now() == 4
        assert arena.first.times(CHOOSE) == arena.second.times(CHOOSE) == [4]

    run(main())


def test_a_match_that_was_forfeited_is_finished_at_once() -> None:
    async def main() -> Json:
        arena = Arena({JOIN: breaks})
        await by_hand(arena)
        await asyncio.sleep(10)
        assert "FINISHED" in (await arena.use("collect_choices", **STEP))["data"]["detail"]
        final = await arena.use("finalize_match", **STEP)
        await arena.referee.close()
        return final["game_result"]

    result = run(main())
    assert (result["status"], result["winner_player_id"]) == ("TECHNICAL_LOSS", "P02")


@pytest.mark.parametrize("tool", ["collect_choices", "draw_number", "finalize_match"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"match_id": "R1M1", "ticket": "tkt_P01"}, "E012"),
        ({"match_id": "R1M1"}, "E012"),
        ({"match_id": "R1M1", "ticket": None}, "E012"),
        ({"match_id": "R9M9", "ticket": "tkt_R1M1"}, "E015"),
        ({"match_id": ["R1M1"], "ticket": "tkt_R1M1"}, "E015"),
        ({}, "E015"),
    ],
)
def test_a_step_needs_the_match_and_its_ticket(
    tool: str, arguments: dict[str, Json], code: str
) -> None:
    async def main() -> None:
        arena = Arena()
        await by_hand(arena)
        assert (await arena.use(tool, **arguments))["data"]["error_code"] == code

    run(main())


def test_a_match_that_plays_by_itself_cannot_be_stepped() -> None:
    async def main() -> None:
        arena = Arena({JOIN: takes(4)})
        await arena.start()
        error = await arena.use("collect_choices", **STEP)
        assert error["data"]["error_code"] == "E015"
        await arena.referee.close()

    run(main())


def test_a_match_that_is_finalized_twice_at_once_is_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> Arena:
        arena = Arena({JOIN: breaks})
        await by_hand(arena, retry=Retry(attempts=1))
        steps = (arena.use("finalize_match", **STEP) for _ in range(2))
        await asyncio.gather(*steps)
        await asyncio.sleep(60)
        return arena

    with caplog.at_level(logging.ERROR, "agent_league"):
        arena = run(main())
    assert arena.report["match_id"] == "R1M1"
    assert "KeyError" not in caplog.text


def test_choices_that_are_collected_twice_at_once_are_asked_for_once() -> None:
    async def main() -> Arena:
        arena = Arena({CHOOSE: takes(5)})
        await by_hand(arena)
        await asyncio.gather(*(arena.use("collect_choices", **STEP) for _ in range(2)))
        return arena

    assert len(run(main()).first.messages(CHOOSE)) == 1


# The rest


def test_a_referee_takes_the_news_of_the_league() -> None:
    async def main() -> None:
        arena = Arena()
        await arena.referee.register()
        completed = {
            **STAMP,
            "sender": "league_manager",
            "message_type": "LEAGUE_COMPLETED",
            "league_id": "league_2025_even_odd",
            "total_rounds": 1,
            "total_matches": 1,
            "champion": {"player_id": "P01", "display_name": "A", "points": 3},
            "final_standings": [{"rank": 1, "player_id": "P01", "points": 3}],
        }
        await arena.use("notify_league_completed", **completed)
        await arena.referee.over.wait()
        assert arena.referee.final is not None
        assert arena.referee.final.champion.player_id == "P01"

    run(main())


def test_the_end_of_another_league_is_not_its_own() -> None:
    async def main() -> None:
        arena = Arena()
        await arena.referee.register()
        completed = LeagueCompleted(
            **BY_LEAGUE,
            league_id="another",
            total_rounds=1,
            total_matches=1,
            champion=Champion(player_id="P01", display_name="A", points=3),
            final_standings=[],
        )
        line = Line(V2Session(REFEREE_URL, arena.net.post), Patience())
        await line.tell(completed)
        assert not arena.referee.over.is_set()
        await line.tell(msgspec.structs.replace(completed, league_id=arena.referee.league_id))
        await arena.referee.over.wait()

    run(main())


def test_the_end_of_a_large_league_is_not_too_long_for_a_referee() -> None:
    # A hundred players with long names make a LEAGUE_COMPLETED of more than 10 KB. A referee
    # that refused it would never learn that the league is over.
    rows = [
        FinalStanding(rank=n, player_id=f"P{n:02}", points=100, display_name="x" * 50)
        for n in range(1, 101)
    ]
    completed = LeagueCompleted(
        **BY_LEAGUE,
        league_id="league",
        total_rounds=99,
        total_matches=4950,
        champion=Champion(player_id="P01", display_name="x" * 50, points=100),
        final_standings=rows,
    )

    async def main() -> None:
        arena = Arena()
        arena.referee.token = ""  # as in a league that gives none
        await Line(V2Session(REFEREE_URL, arena.net.post), Patience()).tell(completed)
        await arena.referee.over.wait()

    run(main())


def test_what_a_person_sees_of_a_referee() -> None:
    async def main() -> None:
        arena = Arena({JOIN: takes(4)})
        look = make_site(arena.referee).find_page
        assert look("/healthz") == {"status": "ok"}
        assert look("/readyz") != {"status": "ready"}
        await arena.start()
        assert look("/readyz") == {"status": "ready"}
        about = look("/")
        assert about is not None
        assert (about["agent"], about["name"], about["matches"]) == ("referee", "REF01", 1)
        assert look("/nowhere") is None
        await arena.referee.close()

    run(main())
