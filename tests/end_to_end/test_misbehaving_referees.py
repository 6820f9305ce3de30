"""A referee that vanishes, stays silent, refuses or cheats costs the league nothing."""

from typing import Any

import pytest

from agent_league.http.server import HttpServer
from agent_league.member import Member
from agent_league.protocol.failures import RefusedError
from agent_league.protocol.play import MatchAccepted, ResultReport, StartMatch
from agent_league.protocol.results import ReportedResult
from agent_league.referee import Referee
from agent_league.referee.match import Match
from agent_league.referee.reporting import report_result
from agent_league.store.events import AgentSuspended
from end_to_end.http_league import HttpLeague, played


class Rogue(Referee):
    """Accepts whatever it is given."""

    server: HttpServer

    def accept(self, order: StartMatch, reason: str | None = None) -> MatchAccepted:
        return MatchAccepted(
            **self.envelope(order.conversation_id),
            match_id=order.match_id,
            status="REJECTED" if reason else "ACCEPTED",
            reason=reason,
        )


class Vanishing(Rogue):
    """Accepts a match, and is gone."""

    def start(self, order: StartMatch) -> MatchAccepted:
        self.spawn(self.server.close(0.0))
        return self.accept(order)


class Silent(Rogue):
    """Accepts a match, and never reports."""

    def start(self, order: StartMatch) -> MatchAccepted:
        return self.accept(order)


class Refusing(Rogue):
    """Refuses every match."""

    def start(self, order: StartMatch) -> MatchAccepted:
        return self.accept(order, "not today")


class Repeating(Referee):
    """Reports everything twice."""

    async def _officiate(self, match: Match, *, is_reported: bool = True) -> bool:
        await super()._officiate(match)
        return await report_result(self, match, match.result())


@pytest.mark.parametrize(
    ("rogue", "suspended"),
    [(Vanishing, True), (Silent, True), (Refusing, False), (Repeating, False)],
)
def test_the_league_completes_with_every_pair_exactly_once(
    rogue: type[Referee], suspended: bool
) -> None:
    async def script(league: HttpLeague) -> None:
        await league.add_referee(rogue)
        await league.add_referee()
        for _ in range(4):
            await league.add_player()
        await league.play()

    league = played(script, awaited_players=4, awaited_referees=2)
    season = league.manager.season
    results = season.results.values()
    assert any(isinstance(event, AgentSuspended) for event in league.events) is suspended
    assert len({frozenset(ended.players) for ended in results}) == len(results) == 6
    assert {ended.termination for ended in results} == {"completed"}
    assert sum(row.played for row in season.standings()) == 12


def forged(by: Member, **changes: Any) -> ResultReport:
    """Return a report of the first match in the name of *by*, who has no right to it."""
    fields: dict[str, Any] = {
        "auth_token": by.token,
        "league_id": by.league_id,
        "round_id": 1,
        "match_id": "R1M1",
        "game_type": "even_odd",
        "result": ReportedResult(winner="P01", score={"P01": 300, "P02": 0}, details={}),
    }
    return ResultReport(**{**by.envelope("conv-forged"), **fields, **changes})


async def refusal(by: Member, report: ResultReport) -> str:
    with pytest.raises(RefusedError) as caught:
        await by.peers.line(by.league_url).tell(report)
    return caught.value.code


def test_a_report_counts_only_from_the_referee_that_has_the_match() -> None:
    codes: list[str] = []

    async def script(league: HttpLeague) -> None:
        referees = [await league.add_referee() for _ in range(2)]
        for _ in range(4):
            await league.add_player()
        await league.play()
        owner = league.manager.season.assignments["R1M1"].referee_id
        for referee in referees:
            codes.append(await refusal(referee, forged(referee)))
            if referee.name == owner:
                assert codes.pop() == "E012"  # its own match, but not the ticket that came with it

    season = played(script, awaited_players=4, awaited_referees=2).manager.season
    assert codes == ["E025"]
    assert sum(row.points for row in season.standings()) <= 6 * 3


def test_a_player_cannot_report_a_result() -> None:
    codes: list[str] = []

    async def script(league: HttpLeague) -> None:
        referee = await league.add_referee()
        player = await league.add_player()
        await league.add_player()
        await league.play()
        codes.append(await refusal(player, forged(player)))
        codes.append(await refusal(player, forged(player, auth_token=None)))
        codes.append(await refusal(player, forged(player, auth_token="tkt_shown_in_a_match")))
        codes.append(await refusal(player, forged(player, sender=f"referee:{referee.name}")))

    played(script, awaited_players=2)
    assert codes == ["E025", "E011", "E012", "E012"]
