"""Every rule for referees, against referees that keep it and the one that does not."""

import asyncio

import pytest

from agent_league.check import RULES, CheckOptions, Mark, Report, run_check
from agent_league.http.client import HttpClient
from agent_league.http.server import HttpServer
from agent_league.protocol import Patience, Role
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.serving.site import make_site
from check.crooked_referee import CROOKED, PlainReferee
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
