"""Every rule for players, against players that keep it and the one that does not."""

import asyncio

import pytest

from agent_league.check import RULES, CheckOptions, Mark, Report, run_check
from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.protocol import Patience, Role
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.serving.site import make_site
from check.crooked_player import CROOKED, Body, PlainPlayer
from check.findings import Herald, finding_of, marked
from scripted import hosted
from timewarp import run_over_sockets

HASTY = Patience(join=1.5, move=1.5, game_over=1.5, generic=1.5)
OF_PLAYERS = [rule for rule in RULES if Role.PLAYER in rule.roles]


def report_on(player: PlainPlayer, role: Role | None = None, *, registers: bool = False) -> Report:
    """Check a player over real HTTP."""

    async def main() -> Report:
        sock, herald = bind(LOOPBACK, 0), Herald()
        url = url_of(sock)
        server = await HttpServer.start(hosted(player), sock)
        port = 0 if registers else None
        order = CheckOptions(url, role, games=4, patience=HASTY, league_port=port)
        check = asyncio.ensure_future(run_check(order, herald))
        try:
            if registers:
                await player.register(await herald.league, url)
            return await check
        finally:
            await server.close(0.1)

    return run_over_sockets(main())


def test_our_player_keeps_every_rule() -> None:
    async def main() -> Report:
        sock, wire, herald = bind(LOOPBACK, 0), HttpClient(), Herald()
        url = url_of(sock)
        check = asyncio.ensure_future(run_check(CheckOptions(url, games=50, league_port=0), herald))
        games = ("even_odd", "tic_tac_toe")
        spec = AgentSpec(Role.PLAYER, "player", 0, "Player", game_types=games, endpoint=url)
        player = spec.make_member(wire, LeagueLink(await herald.league))
        server = await HttpServer.start(make_site(player), sock)
        try:
            await player.register()
            return await check
        finally:
            await server.close(0.1)
            await player.close()
            await wire.close()

    report = run_over_sockets(main())
    assert report.role is Role.PLAYER
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == []
    assert report.passed
    assert report.compliance() == (40, "perfect compliance")


def test_a_correct_third_party_player_keeps_every_rule() -> None:
    report = report_on(PlainPlayer(), registers=True)
    assert report.role is Role.PLAYER
    assert marked(report, Mark.BROKEN) == []
    assert marked(report, Mark.UNJUDGED) == ["player.consecutive-games"]  # four are not fifty


class SlowReader(PlainPlayer):
    """Takes a moment to read the id that the league gave it."""

    async def register(self, league: str, url: str) -> None:
        before = self.name
        await super().register(league, url)
        given, self.name = self.name, before
        asyncio.get_running_loop().call_later(0.05, setattr, self, "name", given)


def test_a_player_has_a_moment_to_read_its_id_before_it_is_invited() -> None:
    report = report_on(SlowReader(), registers=True)
    assert finding_of(report, "register.id-used").mark is Mark.KEPT


class CalledPlayer(PlainPlayer):
    """Says who it is only when it is called by its id."""

    def reply(self, message: Body) -> Body:
        made, own_id = super().reply(message), message.get("player_id")
        own = {"player_id": own_id, "sender": own_id and f"player:{own_id}"}
        return {key: value for key, value in {**made, **own}.items() if value is not None}


def test_a_player_is_called_by_the_id_that_it_was_given() -> None:
    report = report_on(CalledPlayer(), registers=True)
    assert finding_of(report, "register.id-used").mark is Mark.KEPT


def test_a_player_that_does_not_introduce_itself_is_found_out_by_asking() -> None:
    report = report_on(PlainPlayer())
    assert report.role is Role.PLAYER
    registration = [rule.id for rule in OF_PLAYERS if rule.id.startswith("register.")]
    token, few = "player.envelope.auth-token", "player.consecutive-games"
    assert marked(report, Mark.UNJUDGED) == [*registration, token, few]
    assert report.passed


@pytest.mark.parametrize("rule_id", [rule.id for rule in OF_PLAYERS])
def test_a_rule_catches_the_player_that_breaks_it_and_no_other_rule_does(rule_id: str) -> None:
    registers = rule_id.startswith("register.") or rule_id == "player.envelope.auth-token"
    report = report_on(CROOKED[rule_id](), Role.PLAYER, registers=registers)
    assert marked(report, Mark.BROKEN, Mark.ADVICE) == [rule_id]
    assert report.passed == (finding_of(report, rule_id).mark is Mark.ADVICE)
    verdict = finding_of(report, rule_id)
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
    left = finding_of(report, "player.consecutive-games")
    assert left.mark is Mark.UNJUDGED
    assert "did not answer any more: bad input" in left.why


def test_a_check_that_runs_out_of_time_says_what_it_did_not_judge() -> None:
    async def main() -> Report:
        sock = bind(LOOPBACK, 0)
        server = await HttpServer.start(hosted(CROOKED["player.move.in-time"]()), sock)
        try:
            order = CheckOptions(url_of(sock), Role.PLAYER, timeout=0.2)
            return await run_check(order, lambda doing: None)
        finally:
            await server.close(0.1)

    report = run_over_sockets(main())
    assert marked(report, Mark.BROKEN) == []
    assert finding_of(report, "player.move.in-time").why == "the check ran out of time"
    assert finding_of(report, "player.join-ack.accept").mark is Mark.KEPT


def test_a_player_that_limits_its_callers_is_waited_for() -> None:
    class Busy(PlainPlayer):
        calls = 0

        async def __call__(self, body: bytes) -> Answer:
            self.calls += 1
            return Answer(429, b"") if self.calls % 40 == 0 else await super().__call__(body)

    report = report_on(Busy(), Role.PLAYER)
    assert marked(report, Mark.BROKEN) == []
