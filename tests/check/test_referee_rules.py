"""Every rule for referees, against referees that keep it and the one that does not."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from agent_league.check import RULES, CheckOptions, Mark, Report, run_check
from agent_league.check.exchange import Exchange, Received
from agent_league.check.observations import Bout, RefereeObservations
from agent_league.check.rules.referee import gives_roles, keeps_the_conversation, plays_once
from agent_league.check.rules.referee_results import sends_both_the_result
from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.protocol import Patience, Role
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.serving.site import make_site
from check.crooked_referee import CROOKED, Body, PlainReferee
from check.findings import Herald, finding_of, marked
from scripted import hosted
from timewarp import run_over_sockets

HASTY = Patience(join=0.4, move=0.4, game_over=1.0, generic=1.0, report=0.5)
OF_REFEREES = [rule for rule in RULES if Role.REFEREE in rule.roles]


def report_on(referee: PlainReferee, *, registers: bool = True) -> Report:
    async def main() -> Report:
        sock, herald = bind(LOOPBACK, 0), Herald()
        referee.url = url_of(sock)
        server = await HttpServer.start(hosted(referee), sock)
        port = 0 if registers else None
        order = CheckOptions(referee.url, Role.REFEREE, games=4, patience=HASTY, league_port=port)
        check = asyncio.ensure_future(run_check(order, herald))
        try:
            if registers:
                referee.league = await herald.league
                await referee.register()
            return await check
        finally:
            await server.close(0.1)
            await referee.close()

    return run_over_sockets(main())


def test_our_referee_keeps_every_rule() -> None:
    async def main() -> Report:
        sock, wire, herald = bind(LOOPBACK, 0), HttpClient(), Herald()
        order = CheckOptions(url_of(sock), games=50, league_port=0)
        check = asyncio.ensure_future(run_check(order, herald))
        spec = AgentSpec(Role.REFEREE, "referee", 0, "Referee", endpoint=url_of(sock))
        referee = spec.make_member(wire, LeagueLink(await herald.league))
        server = await HttpServer.start(make_site(referee), sock)
        try:
            await referee.register()
            return await check
        finally:
            await server.close(0.1)
            await referee.close()
            await wire.close()

    report = run_over_sockets(main())
    assert report.role is Role.REFEREE
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []
    assert report.passed


def test_a_correct_third_party_referee_keeps_every_rule() -> None:
    report = report_on(PlainReferee())
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == ["referee.consecutive-games"]  # four are not fifty


def test_without_a_league_to_register_at_the_rest_is_judged() -> None:
    report = report_on(PlainReferee(), registers=False)
    assert marked(report, Mark.BROKEN) == []
    registration = [rule.id for rule in OF_REFEREES if rule.id.startswith("register.")]
    reports = ["referee.report.sent", "referee.report.score", "referee.concurrent-matches"]
    few = "referee.consecutive-games"
    assert set(marked(report, Mark.UNJUDGED)) == {*registration, *reports, few}


@pytest.mark.parametrize("rule_id", [rule.id for rule in OF_REFEREES])
def test_a_rule_catches_the_referee_that_breaks_it_and_no_other_rule_does(rule_id: str) -> None:
    report = report_on(CROOKED[rule_id]())
    assert marked(report, Mark.BROKEN, Mark.ADVICE) == [rule_id]
    verdict = finding_of(report, rule_id)
    assert verdict.why
    assert verdict.proof is not None


class Personal(PlainReferee):
    """Tells each player how it did itself."""

    async def tell(self, order: Body, seat: int, result: Body) -> None:
        winner, me = result["winner_player_id"], order["players"][seat]["player_id"]
        loss = "LOSS" if result["status"] == "WIN" else result["status"]
        own = "WIN" if winner == me else "DRAW" if winner is None else loss
        await super().tell(order, seat, {**result, "status": own, "details": {"you": me}})


def test_a_referee_that_tells_each_player_its_own_result_is_blamed_for_that_alone() -> None:
    report = report_on(Personal())
    assert marked(report, Mark.BROKEN) == ["referee.game-over.both"]
    why = finding_of(report, "referee.game-over.both").why
    assert "status ('" in why
    assert why.endswith("you ('P01' and 'P02')")


class Slow(PlainReferee):
    """Answers an order when the match is over, and takes its time between two attempts."""

    async def complain(self, order: Body, seat: int, code: str, attempt: int) -> None:
        await super().complain(order, seat, code, attempt)
        await asyncio.sleep(HASTY.generic)

    async def result(self, frame: Body) -> Body:
        others = set(self.tasks)
        answer = await super().result(frame)
        await asyncio.gather(*(self.tasks - others))
        return answer


def test_a_slow_answer_to_the_order_is_no_reason_to_stop_watching_the_match() -> None:
    report = report_on(Slow(), registers=False)
    assert finding_of(report, "referee.start-match.in-time").mark is Mark.BROKEN
    assert finding_of(report, "referee.silent.technical-loss").mark is Mark.KEPT
    assert finding_of(report, "referee.silent.three-attempts").mark is Mark.KEPT


@pytest.mark.parametrize(
    ("kind", "key", "rule_id", "expected"),
    [
        ("GAME_INVITATION", "opponent_id", "referee.invitation.opponent", "P02"),
        ("CHOOSE_PARITY_CALL", "player_id", "referee.call.player-id", "P01"),
    ],
)
def test_the_message_that_is_shown_is_the_one_that_is_wrong(
    kind: str, key: str, rule_id: str, expected: str
) -> None:
    places: dict[str, str] = {}

    class Reticent(PlainReferee):
        def spoken(self, message: Body) -> Body:
            return {k: v for k, v in message.items() if k != key or message["message_type"] != kind}

        def begin(self, order: Body) -> None:
            places.update({player["player_id"]: player["endpoint"] for player in order["players"]})
            super().begin(order)

    finding = finding_of(report_on(Reticent()), rule_id)
    assert repr(expected) in finding.why
    assert finding.proof is not None
    assert finding.proof.url == places["P01"]


def test_a_match_without_an_end_has_no_status() -> None:
    class Silent(PlainReferee):
        def chances(self) -> int:
            return 1

        async def tell(self, order: Body, seat: int, result: Body) -> None:
            if result["status"] != "TECHNICAL_LOSS":
                await super().tell(order, seat, result)

    why = finding_of(report_on(Silent()), "referee.invalid-choice.second-chance").why
    assert why.endswith("it asked once, and no GAME_OVER with a status came")


@pytest.mark.parametrize(
    ("invited", "problem"), [(1, None), (2, "a player got GAME_INVITATION 2 times")]
)
def test_a_referee_that_invites_twice_plays_a_match_twice_although_it_announces_one_result(
    invited: int, problem: str | None
) -> None:
    kinds = [*["GAME_INVITATION"] * invited, "GAME_OVER"]
    inbox = [Received(0.0, _make_exchange(kind)) for kind in kinds]
    bout = Bout("R901M5", _make_exchange("START_MATCH"), ("odd", "even"), (inbox, []))
    assert plays_once.find_problem(bout) == problem


def test_what_belongs_to_two_plays_of_a_match_is_not_compared() -> None:
    def receive(*drawn_numbers: int) -> list[Received]:
        """Return what a seat gets of plays with these numbers, in this order."""
        results = [{"game_result": {"drawn_number": number}} for number in drawn_numbers]
        exchanges = [
            *(_make_exchange("GAME_INVITATION", conversation_id=f"{n}") for n in drawn_numbers),
            *(_make_exchange("GAME_OVER", **result) for result in results),
        ]
        return [Received(0.0, exchange) for exchange in exchanges]

    inboxes = (receive(2, 3), receive(3, 2))
    bout = Bout("R901M5", _make_exchange("START_MATCH"), ("odd", "even"), inboxes)
    seen = RefereeObservations(bouts={"twice": bout})
    assert plays_once.judge(seen).mark is Mark.BROKEN
    for rule in (sends_both_the_result, keeps_the_conversation, gives_roles):
        assert rule.judge(seen).mark is Mark.UNJUDGED


class OwnWords(PlainReferee):
    """Has words of its own, and understands no others."""

    tools: Mapping[str, str] = {
        "GAME_INVITATION": "handle_game_invitation",
        "CHOOSE_PARITY_CALL": "choose_parity",
        "GAME_OVER": "notify_match_result",
        "GAME_ERROR": "notify_game_error",
    }

    async def post(self, url: str, message: Body, within: float = 2.0) -> Body:
        kind = message["message_type"]
        own = {key: value for key, value in message.items() if key != "message_type"}
        frame = {"jsonrpc": "2.0", "method": self.tools[kind], "params": own, "id": 1}
        answer = await self.wire.post(url, json.dumps(frame).encode(), within)
        found: Body = json.loads(answer.body)["result"]
        if kind == "GAME_INVITATION" and "accepted" not in found:
            await asyncio.Event().wait()
        return {"accept": found.get("accepted"), "parity_choice": found.get("choice")}


def test_a_referee_that_reads_only_words_of_its_own_is_blamed_for_it_and_judged() -> None:
    report = report_on(OwnWords(), registers=False)
    finding = finding_of(report, "referee.reply.read")
    assert finding.mark is Mark.BROKEN
    assert finding.why.startswith('it goes on only if the reply also says "type"')
    assert finding_of(report, "referee.invalid-choice.second-chance").mark is Mark.KEPT
    assert finding_of(report, "referee.declined").mark is Mark.KEPT


def _make_exchange(kind: str, **fields: Any) -> Exchange:
    params = {"message_type": kind, **fields}
    frame = {"jsonrpc": "2.0", "method": "any", "params": params, "id": 1}
    return Exchange(
        "http://agent/mcp", json.dumps(frame).encode(), Answer(200, b"{}"), None, 0.1, 5.0
    )
