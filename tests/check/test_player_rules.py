"""Every rule for players, against players that keep it and the one that does not."""

import asyncio

import pytest

from agent_league.check import RULES, Mark, Order, Report, checked
from agent_league.hosting import LOOPBACK, PlayerPlan, bound, url_of
from agent_league.protocol import Patience, Role
from agent_league.transport.exchange import Answer
from agent_league.transport.http_client import HttpClient
from agent_league.transport.http_server import HttpServer
from check.crooked_player import CROOKED, PlainPlayer
from check.findings import Herald, finding_of, marked
from scripted import hosted

HASTY = Patience(join=0.4, move=0.4, game_over=0.4, generic=0.4)
OF_PLAYERS = [rule for rule in RULES if Role.PLAYER in rule.roles]


def report_on(player: PlainPlayer, role: Role | None = None, *, registers: bool = False) -> Report:
    """Check a player over real HTTP."""

    async def main() -> Report:
        sock, herald = bound(LOOPBACK, 0), Herald()
        url = url_of(sock)
        server = await HttpServer.start(hosted(player), sock)
        port = 0 if registers else None
        order = Order(url, role, games=4, patience=HASTY, league_port=port)
        check = asyncio.ensure_future(checked(order, herald))
        try:
            if registers:
                await player.register(await herald.league, url)
            return await check
        finally:
            await server.close(0.1)

    return asyncio.run(main())


def test_our_player_keeps_every_rule() -> None:
    async def main() -> Report:
        sock, wire, herald = bound(LOOPBACK, 0), HttpClient(), Herald()
        url = url_of(sock)
        check = asyncio.ensure_future(checked(Order(url, games=50, league_port=0), herald))
        player = PlayerPlan(await herald.league, url).member(wire)
        server = await HttpServer.start(player.site(), sock)
        try:
            await player.register()
            return await check
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
    report = report_on(PlainPlayer(), registers=True)
    assert report.role is Role.PLAYER
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []


def test_a_player_that_does_not_introduce_itself_is_found_out_by_asking() -> None:
    report = report_on(PlainPlayer())
    assert report.role is Role.PLAYER
    registration = [rule.id for rule in OF_PLAYERS if rule.id.startswith("register.")]
    assert marked(report, Mark.UNJUDGED) == registration
    assert report.passed


@pytest.mark.parametrize("rule_id", [rule.id for rule in OF_PLAYERS])
def test_a_rule_catches_the_player_that_breaks_it_and_no_other_rule_does(rule_id: str) -> None:
    registers = rule_id.startswith("register.")
    report = report_on(CROOKED[rule_id](), Role.PLAYER, registers=registers)
    assert marked(report, Mark.BROKEN) == [rule_id]
    assert not report.passed
    verdict = finding_of(report, rule_id).verdict
    assert verdict.why
    assert verdict.proof is not None


def test_a_player_that_bad_input_kills_is_blamed_once_and_costs_no_more_time() -> None:
    class Mortal(PlainPlayer):
        alive = True

        async def __call__(self, body: bytes) -> Answer:
            self.alive = self.alive and b"+02:00" not in body
            return await super().__call__(body) if self.alive else Answer(500, b"gone")

    report = report_on(Mortal(), Role.PLAYER)
    assert marked(report, Mark.BROKEN) == ["frame.non-utc-time"]
    left = finding_of(report, "player.consecutive-games").verdict
    assert left.mark is Mark.UNJUDGED
    assert "did not answer any more: bad input" in left.why


def test_a_check_that_runs_out_of_time_says_what_it_did_not_judge() -> None:
    async def main() -> Report:
        sock = bound(LOOPBACK, 0)
        server = await HttpServer.start(hosted(CROOKED["player.move.in-time"]()), sock)
        try:
            order = Order(url_of(sock), Role.PLAYER, timeout=0.2)
            return await checked(order, lambda doing: None)
        finally:
            await server.close(0.1)

    report = asyncio.run(main())
    assert marked(report, Mark.BROKEN) == []
    assert finding_of(report, "player.move.in-time").verdict.why == "the check ran out of time"
    assert finding_of(report, "player.join-ack.accept").mark is Mark.KEPT


def test_a_player_that_limits_its_callers_is_waited_for() -> None:
    class Busy(PlainPlayer):
        calls = 0

        async def __call__(self, body: bytes) -> Answer:
            self.calls += 1
            return Answer(429, b"") if self.calls % 40 == 0 else await super().__call__(body)

    report = report_on(Busy(), Role.PLAYER)
    assert marked(report, Mark.BROKEN) == []
