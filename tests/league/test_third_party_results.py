"""What third-party referees answer and report, and what the league makes of it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from agent_league.http.exchange import Answer
from agent_league.protocol import Role
from agent_league.protocol.failures import RefusedError
from agent_league.protocol.play import ResultReport
from agent_league.protocol.results import ReportedResult
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AgentRecovered, AgentSuspended, MatchEnded, MatchVoided
from league_box import LEAGUE_URL, Box, Guest
from scripted import hosted
from timewarp import run

Respond = Callable[[dict[str, Any]], Any]
Script = Callable[[Box, Guest], Awaitable[None]]


def unknown(frame: dict[str, Any]) -> dict[str, Any]:
    problem = {"code": -32601, "message": "Method not found"}
    return {"jsonrpc": "2.0", "error": problem, "id": frame.get("id")}


class ThirdPartyReferee:
    """Knows one method; everything else is unknown to it."""

    def __init__(self, method: str, respond: Respond) -> None:
        self.method, self.respond = method, respond
        self.orders: list[dict[str, Any]] = []
        self.is_ordered = asyncio.Event()
        self.methods: list[str | None] = []

    def __call__(self, body: bytes) -> Answer:
        frame = json.loads(body)
        self.methods.append(frame.get("method"))
        if frame.get("method") != self.method:
            return Answer(200, json.dumps(unknown(frame)).encode())
        self.orders.append(frame["params"])
        self.is_ordered.set()
        result = {"jsonrpc": "2.0", "result": self.respond(frame["params"]), "id": frame["id"]}
        return Answer(200, json.dumps(result).encode())


async def leave_alone(box: Box, referee: Guest) -> None:
    """Let the referee do what it does by itself."""


def refereed(
    peer: Callable[[bytes], Any], script: Script = leave_alone, *, ours: int = 0, **settings: Any
) -> Box:
    """Play a match of two players with a third-party referee, and with *ours* beside it."""

    async def main() -> Box:
        box = Box(["always_even", "always_odd"], referees=ours, **settings)
        referee = box.guest(peer, Role.REFEREE)
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await script(box, referee)
        async with asyncio.timeout(5000):
            await season
        await box.close()
        return box

    return run(main())


def flat(order: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return how a match ended, as a referee tells it that answers an order with the result."""
    one, two = order["player1"]["display_name"], order["player2"]["display_name"]
    choices = {"player1_choice": "even", "player2_choice": "odd"}
    return {"player1": one, "player2": two, **choices, "dice_roll": 42, "winner": one, **changes}


def test_an_answer_to_an_order_that_holds_the_result_is_the_report() -> None:
    referee = ThirdPartyReferee("run_match", flat)
    box = refereed(referee)
    ended = box.season.results["R1M1"]
    assert (ended.winner, ended.termination) == (ended.players[0], "completed")
    assert ended.details["drawn_number"] == 42
    assert ended.details["choices"] == dict(zip(ended.players, ("even", "odd"), strict=True))
    assert "result-in-answer" in box.season.violations_of("REF01")


def test_a_match_that_was_not_played_goes_to_another_referee() -> None:
    nothing = {"player1_choice": "none", "player2_choice": "none", "dice_roll": 0, "winner": None}
    box = refereed(ThirdPartyReferee("run_match", lambda o: flat(o, **nothing)), ours=1)
    (ended,) = box.happened(MatchEnded)
    assert ended.referee_id == "REF01"
    assert not box.happened(MatchVoided)


def test_a_match_that_nobody_can_play_is_void_after_three_attempts() -> None:
    nothing = {"player1_choice": "none", "player2_choice": "none", "dice_roll": 0, "winner": None}
    referee = ThirdPartyReferee("run_match", lambda order: flat(order, **nothing))
    box = refereed(referee)
    (voided,) = box.happened(MatchVoided)
    assert len(referee.orders) == 3
    assert "not played" in voided.why
    assert [row.points for row in box.season.standings()] == [0, 0]


def test_a_player_without_a_choice_loses_to_the_one_that_has_one() -> None:
    referee = ThirdPartyReferee("run_match", lambda o: flat(o, player1_choice="none", winner=None))
    ended = refereed(referee).season.results["R1M1"]
    assert (ended.winner, ended.technical_losses) == (ended.players[1], [ended.players[0]])


def test_a_wrong_verdict_is_corrected_and_noted() -> None:
    referee = ThirdPartyReferee("run_match", lambda order: flat(order, player2_choice="even"))
    box = refereed(referee)
    assert box.season.results["R1M1"].winner is None
    assert "report-score" in box.season.violations_of("REF01")


def report(referee: Guest, **changes: Any) -> ResultReport:
    fields = {
        "auth_token": referee.token,
        "league_id": LeagueSettings.league_id,
        "round_id": 1,
        "match_id": "R1M1",
        "game_type": "even_odd",
        "result": ReportedResult(winner="P01", score={}, details={}),
    }
    return ResultReport(**{**referee.stamp(), **fields, **changes})


def starts(order: dict[str, Any]) -> dict[str, Any]:
    return {"status": "MATCH_STARTED"}


async def ordered(referee: Guest) -> None:
    assert isinstance(referee.peer, ThirdPartyReferee)
    await referee.peer.is_ordered.wait()


def test_the_token_decides_who_reports_whatever_the_sender_calls_itself() -> None:
    async def script(box: Box, referee: Guest) -> None:
        await ordered(referee)
        await referee.line.tell(report(referee, sender="referee:REF09"))

    box = refereed(ThirdPartyReferee("START_MATCH", starts), script)
    assert box.season.results["R1M1"].referee_id == "REF01"
    assert "player-id-other" in box.season.violations_of("REF01")


def test_a_referee_may_know_its_players_by_name_only() -> None:
    async def script(box: Box, referee: Guest) -> None:
        await ordered(referee)
        name = box.season.roster["P02"].display_name
        result = ReportedResult(winner=name, score={name: 3}, details={})
        await referee.line.tell(report(referee, result=result))

    box = refereed(ThirdPartyReferee("START_MATCH", starts), script)
    assert box.season.results["R1M1"].winner == "P02"


def test_a_report_without_any_proof_is_refused_and_the_operator_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def script(box: Box, referee: Guest) -> None:
        await ordered(referee)
        for _ in range(3):
            with pytest.raises(RefusedError):
                await referee.line.tell(report(referee, auth_token=None))
        assert "R1M1" not in box.season.results
        await referee.line.tell(report(referee))

    refereed(ThirdPartyReferee("START_MATCH", starts), script)
    said = [record.getMessage() for record in caplog.records]
    assert len([text for text in said if "reports without proof" in text]) == 1


def test_a_ticket_that_a_referee_repeats_to_the_league_proves_its_report() -> None:
    orders: list[str] = []

    async def script(box: Box, referee: Guest) -> None:
        started = Answer(200, b'{"status": "started", "match_id": "R1M1"}')
        box.net.host("http://guest1/admin/run_match", hosted(lambda body: started))
        while not orders:
            await asyncio.sleep(0.1)
            sent = [one.url for one in box.net.exchanges if one.answer == started]
            orders.extend(url for url in sent if "/admin/run_match?" in url)
        query = parse_qs(urlsplit(orders[0]).query)
        params = {
            "message_type": "MATCH_RESULT_REPORT",
            **referee.stamp(),
            "auth_token": "",
            "match_id": "R1M1",
            "round_id": query["round_id"][0],
            "league_id": "any",
            "result": {"status": "WIN", "winner_player_id": "P01", "drawn_number": 4},
            "score": {"P01": 3, "P02": 0},
        }
        frame = {"jsonrpc": "2.0", "method": "report_match_result", "params": params, "id": 1}
        answer = await box.net.post(LEAGUE_URL, json.dumps(frame).encode(), 5.0)
        assert "error" not in json.loads(answer.body), answer.body

    box = refereed(ThirdPartyReferee("none", starts), script)
    ended = box.season.results["R1M1"]
    assert (ended.referee_id, ended.winner, ended.details["drawn_number"]) == ("REF01", "P01", 4)
    assert "field-missing" in box.season.violations_of("REF01")


@pytest.mark.parametrize("strictness", ["tolerant", "strict"])
def test_a_referee_that_understands_no_order_stays_out_until_it_registers_again(
    strictness: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def script(box: Box, referee: Guest) -> None:
        await asyncio.sleep(600)
        (suspended,) = box.happened(AgentSuspended)
        assert "until it registers again" in suspended.why
        assert not box.happened(AgentRecovered)
        assert isinstance(referee.peer, ThirdPartyReferee)
        asked = len(referee.peer.methods)
        await asyncio.sleep(600)
        assert len(referee.peer.methods) == asked
        referee.peer.method = "start_match"
        await referee.register()
        await ordered(referee)
        order = referee.peer.orders[0]
        await referee.line.tell(report(referee, ticket=order["ticket"]))

    box = refereed(
        ThirdPartyReferee(
            "none",
            lambda order: {
                "message_type": "START_MATCH_RESPONSE",
                "protocol": "league.v2",
                "sender": "referee:REF01",
                "timestamp": "2025-01-15T10:30:00Z",
                "conversation_id": "c",
                "match_id": "R1M1",
                "status": "ACCEPTED",
                "reason": None,
            },
        ),
        script,
        strictness=strictness,
    )
    assert box.season.results["R1M1"].winner == "P01"
    said = [record.getMessage() for record in caplog.records]
    assert len([text for text in said if "no referee takes matches" in text]) == 1


def test_a_referee_that_never_reports_gets_no_more_matches_while_another_is_there() -> None:
    referee = ThirdPartyReferee("START_MATCH", starts)

    async def main() -> Box:
        box = Box(["always_even", "always_odd", "alternating", "random"], referees=1, legs=2)
        box.guest(referee, Role.REFEREE)
        async with asyncio.timeout(5000):
            await box.play()
        return box

    box = run(main())
    assert box.season.played == 12
    first_round = {order["match_id"] for order in referee.orders}
    assert len(first_round) <= 2
    assert len([one for one in box.happened(AgentSuspended) if one.agent_id != "REF01"]) <= 1


def test_matches_started_zero_is_a_refusal() -> None:
    taken = {"status": "acknowledged", "matches_started": 0}
    referee = ThirdPartyReferee("ROUND_ANNOUNCEMENT", lambda order: taken)

    async def main() -> Box:
        box = Box(["always_even", "always_odd"], referees=1)
        box.guest(referee, Role.REFEREE)
        await box.play()
        return box

    box = run(main())
    assert {ended.referee_id for ended in box.happened(MatchEnded)} == {"REF01"}
