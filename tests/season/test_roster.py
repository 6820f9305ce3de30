from datetime import timedelta

import pytest

from agent_league.clock import format_time
from agent_league.protocol import ErrorCode, ProtocolError, Role, tokens
from agent_league.season.roster import Lifecycle, Roster
from agent_league.store.events import (
    AgentRecovered,
    AgentRegistered,
    AgentSuspended,
    MatchEnded,
    RoundClosed,
    SeasonEnded,
    SeasonStarted,
    TokenIssued,
)
from timewarp import EPOCH

AT, EXPIRES = format_time(EPOCH), format_time(EPOCH + timedelta(hours=24))
P01, REF01 = "tok_P01_" + "a" * 43, "tok_REF01_" + "b" * 43


def registered(
    agent_id: str, token: str, role: Role = Role.PLAYER, endpoint: str = ""
) -> AgentRegistered:
    return AgentRegistered(
        at=AT,
        role=role,
        agent_id=agent_id,
        display_name=agent_id.lower(),
        version="1.0.0",
        endpoint=endpoint or f"http://{agent_id.lower()}/mcp",
        game_types=["even_odd"],
        token_hash=tokens.hash_token(token),
        expires=EXPIRES,
    )


def issued(agent_id: str, token: str, *, proven: bool = True) -> TokenIssued:
    return TokenIssued(
        at=AT,
        agent_id=agent_id,
        token_hash=tokens.hash_token(token),
        expires=EXPIRES,
        proven=proven,
    )


@pytest.fixture
def roster() -> Roster:
    made = Roster()
    made.apply(registered("P01", P01))
    made.apply(registered("REF01", REF01, Role.REFEREE))
    return made


@pytest.mark.parametrize(
    ("token", "sender", "who"), [(P01, "player:P01", "P01"), (REF01, "referee:REF01", "REF01")]
)
def test_a_token_says_who_sent_a_message(roster: Roster, token: str, sender: str, who: str) -> None:
    assert roster.authenticate(token, sender, "LEAGUE_QUERY", EPOCH)[0].agent_id == who


@pytest.mark.parametrize(
    ("token", "sender", "code"),
    [
        (None, "player:P01", ErrorCode.AUTH_TOKEN_MISSING),
        (None, "referee:REF99", ErrorCode.AUTH_TOKEN_MISSING),
        ("", "player:P01", ErrorCode.AUTH_TOKEN_INVALID),
        ("tok_P01_forged", "player:P01", ErrorCode.AUTH_TOKEN_INVALID),
        ("tok_P99_forged", "player:P99", ErrorCode.AUTH_TOKEN_INVALID),
        ("é\ud800", "player:P01", ErrorCode.AUTH_TOKEN_INVALID),
        (P01[:-1], "player:P01", ErrorCode.AUTH_TOKEN_INVALID),
        (tokens.hash_token(P01), "player:P01", ErrorCode.AUTH_TOKEN_INVALID),
        (P01, "player:P02", ErrorCode.AUTH_TOKEN_INVALID),
        (P01, "referee:P01", ErrorCode.AUTH_TOKEN_INVALID),
        (P01, "referee:REF01", ErrorCode.AUTH_TOKEN_INVALID),
        (P01, "league_manager", ErrorCode.AUTH_TOKEN_INVALID),
        (REF01, "player:P01", ErrorCode.AUTH_TOKEN_INVALID),
        ("tok_REF01_forged", "referee:REF01", ErrorCode.AUTH_TOKEN_INVALID),
        ("tok_REF09_forged", "referee:REF09", ErrorCode.REFEREE_NOT_REGISTERED),
    ],
)
def test_a_message_without_the_right_token_is_refused(
    roster: Roster, token: str | None, sender: str, code: ErrorCode
) -> None:
    with pytest.raises(ProtocolError) as caught:
        roster.authenticate(token, sender, "LEAGUE_QUERY", EPOCH)
    assert caught.value.code is code
    assert caught.value.about == "LEAGUE_QUERY"
    if token:
        assert token not in f"{caught.value.detail} {caught.value.context}"


def test_a_token_ends_when_its_time_is_up(roster: Roster) -> None:
    last = EPOCH + timedelta(hours=24, milliseconds=-1)
    assert roster.authenticate(P01, "player:P01", "X", last)[0].agent_id == "P01"
    with pytest.raises(ProtocolError) as caught:
        roster.authenticate(P01, "player:P01", "X", EPOCH + timedelta(hours=24))
    assert caught.value.code is ErrorCode.AUTH_TOKEN_INVALID


def test_an_agent_that_registers_again_may_use_either_token(roster: Roster) -> None:
    roster.apply(issued("P01", "second"))
    for token in (P01, "second"):
        assert roster.authenticate(token, "player:P01", "X", EPOCH)[0].agent_id == "P01"


def test_an_agent_that_moves_keeps_its_tokens_and_leaves_its_endpoint(roster: Roster) -> None:
    roster.apply(registered("P01", "second", endpoint="http://elsewhere/mcp"))
    for token in (P01, "second"):
        assert roster.authenticate(token, "player:P01", "X", EPOCH)[0].agent_id == "P01"
    assert roster.at("http://p01/mcp") is None
    assert roster.at("http://elsewhere/mcp") == roster["P01"]


@pytest.mark.parametrize("strangers", [1, 5, 30])
def test_strangers_cannot_push_out_a_token_that_was_proven(roster: Roster, strangers: int) -> None:
    # Anybody who names an endpoint is given a token for it; the agent that lives there must not
    # be locked out of its own league.
    roster.apply(issued("P01", "mine"))
    for number in range(strangers):
        roster.apply(issued("P01", f"theirs {number}", proven=False))
    assert roster.authenticate("mine", "player:P01", "X", EPOCH)[0].agent_id == "P01"


def test_however_often_an_agent_registers_few_tokens_are_kept(roster: Roster) -> None:
    for number in range(100):
        roster.apply(issued("P01", str(number), proven=number % 2 == 0))
    assert len(roster["P01"].tokens) <= 20


def test_an_agent_lives_from_registration_to_shutdown(roster: Roster) -> None:
    seen = [roster["P01"].state]
    for event in (
        AgentSuspended(at=AT, agent_id="P01", why="silent"),
        AgentRecovered(at=AT, agent_id="P01"),
        SeasonStarted(at=AT, players=["P01"]),
        AgentSuspended(at=AT, agent_id="P01", why="silent"),
        AgentRecovered(at=AT, agent_id="P01"),
        SeasonEnded(at=AT, champion="P01"),
    ):
        roster.apply(event)
        seen.append(roster["P01"].state)
    assert seen == [
        Lifecycle.REGISTERED,
        Lifecycle.SUSPENDED,
        Lifecycle.REGISTERED,
        Lifecycle.ACTIVE,
        Lifecycle.SUSPENDED,
        Lifecycle.ACTIVE,
        Lifecycle.SHUTDOWN,
    ]


def test_an_agent_that_is_suspended_when_the_season_starts_stays_so(roster: Roster) -> None:
    roster.apply(AgentSuspended(at=AT, agent_id="P01", why="silent"))
    roster.apply(SeasonStarted(at=AT, players=["P01"]))
    assert roster["P01"].state is Lifecycle.SUSPENDED
    assert roster["REF01"].state is Lifecycle.ACTIVE


def test_an_agent_that_comes_back_from_elsewhere_is_awake(roster: Roster) -> None:
    roster.apply(SeasonStarted(at=AT, players=["P01"]))
    roster.apply(AgentSuspended(at=AT, agent_id="P01", why="silent"))
    roster.apply(registered("P01", "second", endpoint="http://elsewhere/mcp"))
    assert roster["P01"].state is Lifecycle.ACTIVE


def test_other_events_do_not_concern_the_roster(roster: Roster) -> None:
    before = roster.of(Role.PLAYER, Role.REFEREE)
    roster.apply(RoundClosed(at=AT, round_id=1))
    roster.apply(
        MatchEnded(
            at=AT,
            match_id="R1M1",
            round_id=1,
            referee_id="REF01",
            players=["P01", "P02"],
            winner=None,
            status="DRAW",
            termination="completed",
        )
    )
    assert roster.of(Role.PLAYER, Role.REFEREE) == before


def test_agents_are_found_by_id_by_role_and_by_endpoint(roster: Roster) -> None:
    assert "P01" in roster
    assert "P02" not in roster
    assert roster.get("P02") is None
    assert [entry.agent_id for entry in roster.of(Role.PLAYER)] == ["P01"]
    assert [entry.agent_id for entry in roster.of(Role.REFEREE)] == ["REF01"]
    at = roster.at("http://ref01/mcp")
    assert at is not None
    assert at.agent_id == "REF01"
