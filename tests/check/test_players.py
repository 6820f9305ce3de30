"""Every rule for players, against players that keep it and the one that does not."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from agent_league.check import RULES, Finding, Mark, Order, Report, checked
from agent_league.hosting import LOOPBACK, PlayerPlan, bound, url_of
from agent_league.protocol import Patience, Role
from agent_league.transport.exchange import Answer
from agent_league.transport.http_client import HttpClient
from agent_league.transport.http_server import HttpServer, Site
from check.crooked_player import CROOKED, PlainPlayer
from scripted import hosted

HASTY = Patience(join=0.4, move=0.4, game_over=0.4, generic=0.4)
OF_PLAYERS = [rule for rule in RULES if Role.PLAYER in rule.roles]


def quiet(doing: str) -> None:
    """Show nothing."""


def report_on(site: Site, role: Role | None = None, games: int = 4) -> Report:
    """Check an agent over real HTTP."""

    async def main() -> Report:
        sock = bound(LOOPBACK, 0)
        url = url_of(sock)
        server = await HttpServer.start(site, sock)
        try:
            return await checked(Order(url, role, games=games, patience=HASTY), quiet)
        finally:
            await server.close(0.1)

    return asyncio.run(main())


def marked(report: Report, mark: Mark) -> Sequence[str]:
    return [finding.rule.id for finding in report.findings if finding.mark is mark]


def finding_of(report: Report, rule_id: str) -> Finding:
    return next(finding for finding in report.findings if finding.rule.id == rule_id)


def site_of(answer: Callable[[bytes], Answer | Awaitable[Answer]]) -> Site:
    return hosted(answer)


def test_our_player_keeps_every_rule() -> None:
    async def main() -> Report:
        sock, wire = bound(LOOPBACK, 0), HttpClient()
        url = url_of(sock)
        player = PlayerPlan("http://127.0.0.1:1/mcp", url, player_id="P03").member(wire)
        server = await HttpServer.start(player.site(), sock)
        try:
            return await checked(Order(url, games=50), quiet)
        finally:
            await server.close(0.1)
            await player.close()
            await wire.close()

    report = asyncio.run(main())
    assert report.role is Role.PLAYER
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []
    assert report.passed
    assert report.compliance() == (40, "perfect compliance")


def test_a_strangers_right_player_keeps_every_rule() -> None:
    report = report_on(site_of(PlainPlayer()))
    assert report.role is Role.PLAYER
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []


@pytest.mark.parametrize("rule_id", [rule.id for rule in OF_PLAYERS])
def test_a_rule_catches_the_player_that_breaks_it_and_no_other_rule_does(rule_id: str) -> None:
    report = report_on(site_of(CROOKED[rule_id]()), Role.PLAYER)
    assert marked(report, Mark.BROKEN) == [rule_id]
    assert not report.passed
    verdict = finding_of(report, rule_id).verdict
    assert verdict.why
    assert verdict.proof is not None
