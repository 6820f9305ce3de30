"""Every rule for managers, against managers that keep it and the one that does not."""

import asyncio
import json
from typing import Any

import pytest

from agent_league.check import RULES, CheckOptions, Mark, Report, run_check
from agent_league.http.server import HttpServer
from agent_league.protocol import Patience, Role
from agent_league.running.serve import LOOPBACK, bind, url_of
from check.crooked_manager import CROOKED, PlainManager, WrongError, replacing
from check.findings import finding_of, marked
from end_to_end.http_league import HttpLeague
from scripted import hosted
from timewarp import run_over_sockets

HASTY = Patience(join=1.0, move=1.0, game_over=1.0, generic=1.0, report=1.0)
OF_MANAGERS = [rule for rule in RULES if Role.LEAGUE in rule.roles]


def quiet(doing: str) -> None:
    """Show nothing."""


def report_on(manager: PlainManager, *, players: int = 2) -> Report:
    async def main() -> Report:
        sock = bind(LOOPBACK, 0)
        url = url_of(sock)
        server = await HttpServer.start(hosted(manager), sock)
        try:
            order = CheckOptions(url, Role.LEAGUE, patience=HASTY, players=players)
            return await run_check(order, quiet)
        finally:
            await server.close(0.1)
            await manager.close()

    return run_over_sockets(main())


def report_on_ours(players: int, **settings: Any) -> tuple[Report, HttpLeague]:
    async def main() -> tuple[Report, HttpLeague]:
        async with HttpLeague(awaited_players=2, **settings) as league:
            season = asyncio.ensure_future(league.manager.run())
            try:
                return await run_check(CheckOptions(league.url, players=players), quiet), league
            finally:
                season.cancel()
                await asyncio.wait([season])

    return run_over_sockets(main())


def test_our_manager_keeps_every_rule() -> None:
    report, _ = report_on_ours(players=2)
    assert report.role is Role.LEAGUE
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []


def test_a_correct_third_party_manager_keeps_every_rule() -> None:
    report = report_on(PlainManager())
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []


def test_without_consent_nobody_enters_the_league() -> None:
    report, league = report_on_ours(players=0)
    assert len(league.manager.season.roster.of(Role.PLAYER)) == 0
    assert len(league.manager.season.roster.of(Role.REFEREE)) == 0
    assert report.passed
    unjudged = finding_of(report, "manager.register.accepted")
    assert unjudged.mark is Mark.UNJUDGED
    assert "--allow-registration" in unjudged.why


def test_a_league_that_lets_nobody_in_is_not_blamed_for_it() -> None:
    class Full(PlainManager):
        def objection(self, meta: dict[str, Any]) -> str | None:
            return super().objection(meta) or "Registration closed"

    report = report_on(Full())
    assert marked(report, Mark.BROKEN) == []
    assert "Registration closed" in finding_of(report, "manager.register.id").why
    assert finding_of(report, "frame.right-message").mark is Mark.UNJUDGED  # it got no report


def test_a_manager_may_ask_its_players_for_what_they_do_not_know() -> None:
    class Probing(PlainManager):
        async def play(self) -> None:
            probe = {"jsonrpc": "2.0", "method": "league_probe", "params": {}, "id": 1}
            answer = await self.wire.post(
                self.agents["P01"]["url"], json.dumps(probe).encode(), 2.0
            )
            assert json.loads(answer.body)["error"]["code"] == -32601
            await super().play()

    report = report_on(Probing())
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []


@pytest.mark.parametrize("rule_id", [rule.id for rule in OF_MANAGERS])
def test_a_rule_catches_the_manager_that_breaks_it_and_no_other_rule_does(rule_id: str) -> None:
    report = report_on(CROOKED[rule_id]())
    assert marked(report, Mark.BROKEN, Mark.ADVICE) == [rule_id]
    verdict = finding_of(report, rule_id)
    assert verdict.why
    assert verdict.proof is not None


def test_a_table_without_players_does_not_add_up() -> None:
    report = report_on(replacing(table=lambda self, players: [])())
    assert marked(report, Mark.BROKEN) == ["manager.standings.arithmetic"]
    why = finding_of(report, "manager.standings.arithmetic").why
    assert why == "standings: expected every registered player, got none"


def test_a_round_without_matches_is_not_fair_but_empty() -> None:
    report = report_on(replacing(matches=lambda self, players: [])())
    assert marked(report, Mark.BROKEN) == ["manager.round-announcement.matches"]
    assert marked(report, Mark.UNJUDGED) == ["manager.round-announcement.fair"]


def test_a_refused_report_is_blamed_on_every_field_that_was_changed() -> None:
    class Demanding(PlainManager):
        def take(self, reply: dict[str, Any]) -> dict[str, Any]:
            if isinstance(reply["round_id"], int) or "score" not in reply:
                raise WrongError("E022")
            return super().take(reply)

    why = finding_of(report_on(Demanding()), "frame.right-message").why
    assert "with round_id 'R" in why
    assert why.endswith("and more in result, score")
