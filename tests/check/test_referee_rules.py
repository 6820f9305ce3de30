"""Every rule for referees, against referees that keep it and the one that does not."""

import asyncio

import pytest

from agent_league.check import RULES, Mark, Order, Report, checked
from agent_league.hosting import LOOPBACK, RefereePlan, bound, url_of
from agent_league.protocol import Patience, Role
from agent_league.transport.http_client import HttpClient
from agent_league.transport.http_server import HttpServer
from check.crooked_referee import CROOKED, PlainReferee
from check.findings import Herald, finding_of, marked
from scripted import hosted

pytestmark = pytest.mark.slow

HASTY = Patience(join=0.4, move=0.4, game_over=0.4, generic=0.5, report=0.5)
OF_REFEREES = [rule for rule in RULES if Role.REFEREE in rule.roles]


def report_on(referee: PlainReferee, *, registers: bool = True) -> Report:
    async def main() -> Report:
        sock, herald = bound(LOOPBACK, 0), Herald()
        referee.url = url_of(sock)
        server = await HttpServer.start(hosted(referee), sock)
        port = 0 if registers else None
        order = Order(referee.url, Role.REFEREE, games=4, patience=HASTY, league_port=port)
        check = asyncio.ensure_future(checked(order, herald))
        try:
            if registers:
                referee.league = await herald.league
                await referee.register()
            return await check
        finally:
            await server.close(0.1)
            await referee.close()

    return asyncio.run(main())


def test_our_referee_keeps_every_rule() -> None:
    async def main() -> Report:
        sock, wire, herald = bound(LOOPBACK, 0), HttpClient(), Herald()
        order = Order(url_of(sock), games=50, league_port=0)
        check = asyncio.ensure_future(checked(order, herald))
        referee = RefereePlan(await herald.league, url_of(sock)).member(wire)
        server = await HttpServer.start(referee.site(), sock)
        try:
            await referee.register()
            return await check
        finally:
            await server.close(0.1)
            await referee.close()
            await wire.close()

    report = asyncio.run(main())
    assert report.role is Role.REFEREE
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []
    assert report.passed


def test_a_strangers_right_referee_keeps_every_rule() -> None:
    report = report_on(PlainReferee())
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []


def test_without_a_league_to_register_at_the_rest_is_judged() -> None:
    report = report_on(PlainReferee(), registers=False)
    assert marked(report, Mark.BROKEN) == []
    registration = [rule.id for rule in OF_REFEREES if rule.id.startswith("register.")]
    reports = ["referee.report.sent", "referee.report.score", "referee.concurrent-matches"]
    assert set(marked(report, Mark.UNJUDGED)) == {*registration, *reports}


@pytest.mark.parametrize("rule_id", [rule.id for rule in OF_REFEREES])
def test_a_rule_catches_the_referee_that_breaks_it_and_no_other_rule_does(rule_id: str) -> None:
    report = report_on(CROOKED[rule_id]())
    assert marked(report, Mark.BROKEN) == [rule_id]
    verdict = finding_of(report, rule_id).verdict
    assert verdict.why
    assert verdict.proof is not None
