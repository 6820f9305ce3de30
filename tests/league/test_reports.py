from typing import Any

import pytest
from msgspec import Raw

from agent_league.http.memory import Network
from agent_league.league import LeagueManager
from agent_league.protocol import Acknowledgement, ErrorCode, ProtocolError, Role, tokens
from agent_league.protocol.play import ResultReport
from agent_league.protocol.queries import RefereeClaim
from agent_league.protocol.results import ReportedResult
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import (
    AgentRegistered,
    MatchAssigned,
    MatchEnded,
    RoundOpened,
    SeasonStarted,
)
from memory_log import MemoryLog
from protocol.samples import BY_LEAGUE
from timewarp import clock, run

AT, EXPIRES = "2025-01-15T10:00:00.000Z", "2025-01-16T10:00:00.000Z"
TOKENS = {name: f"tok_{name}_{name:x>43}" for name in ("P01", "P02", "P03", "REF01", "REF02")}
TICKET = "tkt_" + "t" * 32


def registered(agent_id: str, **more: Any) -> AgentRegistered:
    return AgentRegistered(
        **more,
        at=AT,
        role=Role.REFEREE if agent_id.startswith("REF") else Role.PLAYER,
        agent_id=agent_id,
        display_name=agent_id,
        version="1.0.0",
        endpoint=f"http://{agent_id.lower()}/mcp",
        game_types=["even_odd"],
        token_hash=tokens.hash_token(TOKENS[agent_id]),
        expires=EXPIRES,
    )


async def halfway(**more: Any) -> LeagueManager:
    """Return a league in its first round, in which REF01 has P02 against P03 (R1M1)."""
    manager = LeagueManager(LeagueSettings(seed="s"), Network(), MemoryLog(), clock=clock)
    for agent_id in TOKENS:
        await manager.events.append(registered(agent_id, **more))
    await manager.events.append(SeasonStarted(at=AT, players=["P01", "P02", "P03"]))
    matches = manager.season.pairings(1)
    await manager.events.append(RoundOpened(at=AT, round_id=1, matches=matches))
    ticket_hash = tokens.hash_token(TICKET)
    await manager.events.append(
        MatchAssigned(at=AT, match_id="R1M1", referee_id="REF01", ticket_hash=ticket_hash)
    )
    return manager


async def take(manager: LeagueManager, sent: ResultReport) -> Acknowledgement:
    taken = manager.report_receiver.take_result(sent)
    return taken if isinstance(taken, Acknowledgement) else await taken


def seated(season: Season) -> tuple[str, str]:
    match = season.matches["R1M1"]
    return match.first, match.second


def result(winner: str | None, **changes: Any) -> ReportedResult:
    fields: dict[str, Any] = {"winner": winner, "score": {}, "details": {"drawn_number": 4}}
    return ReportedResult(**{**fields, **changes})


def report(notices: ReportedResult, who: str = "REF01", **changes: Any) -> ResultReport:
    role = "referee" if who.startswith("REF") else "player"
    fields: dict[str, Any] = {
        **BY_LEAGUE,
        "sender": f"{role}:{who}",
        "auth_token": TOKENS[who],
        "league_id": "l",
        "round_id": 1,
        "match_id": "R1M1",
        "game_type": "even_odd",
        "result": notices,
        "ticket": TICKET,
    }
    return ResultReport(**{**fields, **changes})


def ends(notices: ReportedResult, **changes: Any) -> tuple[LeagueManager, MatchEnded]:
    async def main() -> tuple[LeagueManager, MatchEnded]:
        manager = await halfway()
        assert (await take(manager, report(notices, **changes))).match_id == "R1M1"
        await manager.close()
        return manager, manager.season.results["R1M1"]

    return run(main())


def refused(notices: ReportedResult, who: str = "REF01", **changes: Any) -> ErrorCode:
    async def main() -> ErrorCode:
        manager = await halfway()
        with pytest.raises(ProtocolError) as caught:
            await take(manager, report(notices, who, **changes))
        assert manager.season.results == {}
        assert caught.value.about == "MATCH_RESULT_REPORT"
        return caught.value.code

    return run(main())


FIRST, SECOND = seated(run(halfway()).season)


@pytest.mark.parametrize(
    ("notices", "status", "losers", "points"),
    [
        (result(FIRST), "WIN", [], (3, 0)),
        (result(SECOND), "WIN", [], (0, 3)),
        (result(None), "DRAW", [], (1, 1)),
        (result(SECOND, technical_losses=[FIRST]), "TECHNICAL_LOSS", [FIRST], (0, 3)),
        (result(SECOND, status="TECHNICAL_LOSS"), "TECHNICAL_LOSS", [FIRST], (0, 3)),
        (result(None, technical_losses=[FIRST, SECOND]), "TECHNICAL_LOSS", [FIRST, SECOND], (0, 0)),
        (result(None, status="TECHNICAL_LOSS"), "TECHNICAL_LOSS", [FIRST, SECOND], (0, 0)),
    ],
)
def test_a_report_says_who_won_and_the_rest_follows(
    notices: ReportedResult, status: str, losers: list[str], points: tuple[int, int]
) -> None:
    manager, ended = ends(notices)
    assert (ended.status, ended.technical_losses) == (status, losers)
    assert (manager.season.row(FIRST).points, manager.season.row(SECOND).points) == points
    assert (ended.referee_id, ended.round_id) == ("REF01", 1)
    assert ended.details == {"drawn_number": 4}


def test_the_score_that_comes_with_a_report_is_ignored() -> None:
    manager, _ = ends(result(SECOND, score={FIRST: 3, SECOND: 0, "P99": 999_999}))
    assert manager.season.row(FIRST).points == 0
    assert manager.season.row(SECOND).points == 3


def test_the_round_is_that_of_the_match_whatever_a_report_says() -> None:
    async def main() -> int:
        manager = await halfway()
        try:
            await take(manager, report(result(None), round_id=7))
        except ProtocolError:
            return 1
        finally:
            await manager.close()
        return manager.season.results["R1M1"].round_id

    assert run(main()) == 1


@pytest.mark.parametrize(
    "notices",
    [
        result("P99"),
        result("P01"),
        result("REF01"),
        result(""),
        result(FIRST, technical_losses=[FIRST]),
        result(FIRST, technical_losses=[FIRST, SECOND]),
        result(None, technical_losses=[FIRST]),
        result(FIRST, technical_losses=["P99"]),
        result(FIRST, technical_losses=["P01"]),
    ],
)
def test_a_result_that_cannot_be_is_refused(notices: ReportedResult) -> None:
    assert refused(notices) is ErrorCode.INVALID_FIELD_VALUE


@pytest.mark.parametrize(
    ("who", "changes", "code"),
    [
        ("REF02", {}, ErrorCode.NOT_ALLOWED),
        ("P02", {}, ErrorCode.NOT_ALLOWED),
        ("REF01", {"ticket": None}, ErrorCode.AUTH_TOKEN_INVALID),
        ("REF01", {"ticket": ""}, ErrorCode.AUTH_TOKEN_INVALID),
        ("REF01", {"ticket": "tkt_guessed"}, ErrorCode.AUTH_TOKEN_INVALID),
        ("REF01", {"ticket": tokens.hash_token(TICKET)}, ErrorCode.AUTH_TOKEN_INVALID),
        ("REF01", {"match_id": "R9M9"}, ErrorCode.MATCH_ID_MISMATCH),
        ("REF01", {"match_id": "R2M1"}, ErrorCode.MATCH_ID_MISMATCH),
        ("REF01", {"auth_token": None}, ErrorCode.AUTH_TOKEN_MISSING),
        ("REF01", {"auth_token": "tok_REF01_guessed"}, ErrorCode.AUTH_TOKEN_INVALID),
        ("REF01", {"auth_token": TICKET}, ErrorCode.AUTH_TOKEN_INVALID),
        ("REF01", {"auth_token": TOKENS["REF02"]}, ErrorCode.NOT_ALLOWED),
        (
            "REF01",
            {"auth_token": "x", "sender": "referee:REF09"},
            ErrorCode.REFEREE_NOT_REGISTERED,
        ),
    ],
)
def test_a_report_counts_only_from_the_referee_that_has_the_match_with_its_ticket(
    who: str, changes: dict[str, Any], code: ErrorCode
) -> None:
    assert refused(result(FIRST), who, **changes) is code


def test_a_second_report_is_acknowledged_and_changes_nothing() -> None:
    async def main() -> None:
        manager = await halfway()
        first = await take(manager, report(result(FIRST)))
        events = len(manager.events)
        second = await take(manager, report(result(FIRST)))
        assert first == Acknowledgement(match_id="R1M1")
        assert second == Acknowledgement(match_id="R1M1", note="already known")
        assert len(manager.events) == events
        await manager.close()

    run(main())


def test_a_second_report_with_another_result_changes_nothing_and_is_kept_as_evidence() -> None:
    async def main() -> None:
        manager = await halfway()
        await take(manager, report(result(FIRST)))
        events = len(manager.events)
        for _ in range(3):
            second = await take(manager, report(result(SECOND)))
            assert "kept as evidence" in str(second.note)
        assert len(manager.events) == events + 1
        assert manager.season.results["R1M1"].winner == FIRST
        assert manager.season.row(FIRST).played == 1
        await manager.close()

    run(main())


def test_a_match_that_was_given_to_another_referee_counts_only_from_that_one() -> None:
    async def main() -> None:
        manager = await halfway()
        ticket = tokens.new_ticket()
        ticket_hash = tokens.hash_token(ticket)
        await manager.events.append(
            MatchAssigned(at=AT, match_id="R1M1", referee_id="REF02", ticket_hash=ticket_hash)
        )
        with pytest.raises(ProtocolError) as caught:
            await take(manager, report(result(FIRST)))
        assert caught.value.code is ErrorCode.NOT_ALLOWED
        with pytest.raises(ProtocolError):
            await take(manager, report(result(FIRST), "REF02"))
        await take(manager, report(result(FIRST), "REF02", ticket=ticket))
        assert manager.season.results["R1M1"].referee_id == "REF02"
        await manager.close()

    run(main())


def test_a_transcript_that_no_store_could_keep_is_refused() -> None:
    reply = [Raw(b'{"message":"\xff"}')]
    assert refused(result(FIRST), transcript=reply) is ErrorCode.INVALID_FIELD_VALUE


def test_the_same_loser_named_twice_loses_once() -> None:
    manager, ended = ends(result(SECOND, technical_losses=[FIRST, FIRST]))
    assert manager.season.row(FIRST).technical_losses == 1
    assert ended.winner == SECOND


def test_a_choice_of_somebody_who_does_not_play_is_not_kept_and_noted() -> None:
    async def main() -> tuple[MatchEnded, dict[str, int]]:
        manager = await halfway()
        first, second = seated(manager.season)
        choices = {first: "even", second: "odd", "P09": "odd"}
        notices = result(first, details={"drawn_number": 4, "choices": choices})
        await take(manager, report(notices))
        kept, noted = manager.season.results["R1M1"], manager.season.violations_of("REF01")
        assert kept.details["choices"] == {first: "even", second: "odd"}
        await manager.close()
        return kept, noted

    _, noted = run(main())
    assert noted == {"report-form": 1}


@pytest.mark.parametrize("compact", [False, True])
def test_the_league_knows_the_ticket_of_a_player_that_lost_its_token(*, compact: bool) -> None:
    async def main() -> None:
        manager = await halfway(compact=compact)
        match = manager.season.matches["R1M1"]
        order = manager.season_runner.dispatcher.order_writer.write(match, TICKET, "key")
        first, second = order.players

        async def is_true(player: str, ticket: str) -> bool:
            shown = {"sender": "referee:REF01", "conversation_id": order.conversation_id}
            claim = RefereeClaim(match_id="R1M1", **shown, token=ticket)
            return await manager.confirm_referee(player, claim)

        assert await is_true(first.player_id, first.ticket)
        assert not await is_true(first.player_id, second.ticket)
        assert not await is_true("P01", first.ticket)

    run(main())
