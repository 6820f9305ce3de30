"""One valid message of every kind, with the values of the specification's own examples."""

from typing import get_args

from agent_league.protocol import MESSAGES, Envelope, Message, Role, name
from agent_league.protocol.error_messages import GameErrorMessage, LeagueErrorMessage, RetryInfo
from agent_league.protocol.play import (
    Contestant,
    GameMoveCall,
    GameMoveReply,
    GameOver,
    Invitation,
    JoinAck,
    MatchAccepted,
    MoveContext,
    ParityCall,
    ParityReply,
    Record,
    ResultReport,
    StartMatch,
    TranscriptPart,
)
from agent_league.protocol.queries import PublicQuery, Query, QueryAnswer
from agent_league.protocol.registration import (
    PlayerMeta,
    PlayerRegistered,
    RefereeMeta,
    RefereeRegistered,
    RegisterPlayer,
    RegisterReferee,
)
from agent_league.protocol.results import GameResult, ReportedResult
from agent_league.protocol.rounds import (
    AnnouncedMatch,
    Champion,
    FinalStanding,
    LeagueCompleted,
    RoundAnnouncement,
    RoundCompleted,
    RoundSummary,
    StandingRow,
    StandingsUpdate,
)

LEAGUE_ID = "league_2025_even_odd"
REFEREE_ENDPOINT = "http://localhost:8001/mcp"
QUERY_TYPES = get_args(PublicQuery)

SENDERS = {
    Role.LEAGUE: "league_manager",
    Role.REFEREE: "referee:REF01",
    Role.PLAYER: "player:P01",
}


def stamp(role: Role) -> Envelope:
    return {
        "protocol": "league.v2",
        "sender": SENDERS[role],
        "timestamp": "2025-01-15T10:30:00Z",
        "conversation_id": "convr1m1001",
    }


BY_LEAGUE, BY_REFEREE, BY_PLAYER = stamp(Role.LEAGUE), stamp(Role.REFEREE), stamp(Role.PLAYER)
CONTEXT = MoveContext(
    opponent_id="P02", round_id=1, your_standings=Record(wins=2, losses=1, draws=0)
)

_REGISTRATION: tuple[Message, ...] = (
    RegisterReferee(
        **BY_REFEREE,
        referee_meta=RefereeMeta(
            display_name="Referee Alpha",
            version="1.0.0",
            game_types=["even_odd"],
            contact_endpoint=REFEREE_ENDPOINT,
            max_concurrent_matches=2,
        ),
    ),
    RefereeRegistered(
        **BY_LEAGUE,
        auth_token="tok_REF01_0123456789abcdef0123456789abcdef",
        status="ACCEPTED",
        referee_id="REF01",
        reason=None,
    ),
    RegisterPlayer(
        **BY_PLAYER,
        player_meta=PlayerMeta(
            display_name="Agent Alpha",
            version="1.0.0",
            game_types=["even_odd"],
            contact_endpoint="http://localhost:8101/mcp",
        ),
    ),
    PlayerRegistered(
        **BY_LEAGUE,
        status="REJECTED",
        player_id=None,
        reason="Registration closed - league already started",
    ),
)

_ROUNDS: tuple[Message, ...] = (
    RoundAnnouncement(
        **BY_LEAGUE,
        league_id=LEAGUE_ID,
        round_id=1,
        matches=[
            AnnouncedMatch(
                match_id="R1M1",
                game_type="even_odd",
                player_A_id="P01",
                player_B_id="P02",
                referee_endpoint=REFEREE_ENDPOINT,
            )
        ],
    ),
    RoundCompleted(
        **BY_LEAGUE,
        league_id=LEAGUE_ID,
        round_id=3,
        matches_completed=2,
        next_round_id=None,
        summary=RoundSummary(total_matches=2, wins=1, draws=1, technical_losses=0),
    ),
    StandingsUpdate(
        **BY_LEAGUE,
        league_id=LEAGUE_ID,
        round_id=1,
        standings=[
            StandingRow(
                rank=1,
                player_id="P01",
                display_name="Agent Alpha",
                played=2,
                wins=2,
                draws=0,
                losses=0,
                points=6,
            )
        ],
    ),
    LeagueCompleted(
        **BY_LEAGUE,
        league_id=LEAGUE_ID,
        total_rounds=3,
        total_matches=6,
        champion=Champion(player_id="P01", display_name="Agent Alpha", points=9),
        final_standings=[
            FinalStanding(rank=1, player_id="P01", display_name="Agent Alpha", points=9),
            FinalStanding(rank=2, player_id="P03", display_name="Agent Gamma", points=5),
        ],
    ),
)

_PLAY: tuple[Message, ...] = (
    StartMatch(
        **BY_LEAGUE,
        league_id=LEAGUE_ID,
        round_id=1,
        match_id="R1M1",
        game_type="even_odd",
        players=[
            Contestant(player_id="P01", endpoint="http://localhost:8101/mcp", ticket="tkt_01"),
            Contestant(
                player_id="P02",
                endpoint="http://localhost:8102/mcp",
                ticket="tkt_02",
                dialect="league.v1",
                suspended=True,
            ),
        ],
        ticket="tkt_match",
        seed="2025-R1M1",
        options={"low": 1, "high": 10},
    ),
    MatchAccepted(**BY_REFEREE, match_id="R1M1", status="ACCEPTED", reason=None),
    Invitation(
        **BY_REFEREE,
        league_id=LEAGUE_ID,
        round_id=1,
        match_id="R1M1",
        game_type="even_odd",
        role_in_match="PLAYER_A",
        opponent_id="P02",
    ),
    JoinAck(
        **BY_PLAYER,
        match_id="R1M1",
        player_id="P01",
        arrival_timestamp="2025-01-15T10:30:00Z",
        accept=True,
    ),
    ParityCall(
        **BY_REFEREE,
        match_id="R1M1",
        player_id="P01",
        game_type="even_odd",
        context=CONTEXT,
        deadline="2025-01-15T10:30:30Z",
    ),
    ParityReply(**BY_PLAYER, match_id="R1M1", player_id="P01", move="even"),
    GameMoveCall(
        **BY_REFEREE,
        match_id="R1M1",
        player_id="P01",
        game_type="tic_tac_toe",
        context=CONTEXT,
        deadline="2025-01-15T10:30:30Z",
        view={"board": ["X", None, None], "you": "O"},
        legal_moves=[1, 2],
    ),
    GameMoveReply(**BY_PLAYER, match_id="R1M1", player_id="P01", move=1),
    GameOver(
        **BY_REFEREE,
        match_id="R1M1",
        game_type="even_odd",
        game_result=GameResult(
            status="WIN",
            winner_player_id="P01",
            drawn_number=8,
            number_parity="even",
            choices={"P01": "even", "P02": "odd"},
            reason="P01 chose even, number was 8 (even)",
        ),
    ),
    ResultReport(
        **BY_REFEREE,
        league_id=LEAGUE_ID,
        round_id=1,
        match_id="R1M1",
        game_type="even_odd",
        result=ReportedResult(
            winner="P01",
            score={"P01": 3, "P02": 0},
            details={"drawn_number": 8, "choices": {"P01": "even", "P02": "odd"}},
        ),
    ),
    TranscriptPart(
        **BY_REFEREE,
        match_id="R1M1",
        ticket="tkt_match",
        part=1,
        entries=[{"at": "2025-01-15T10:30:00Z", "error": "E001 no answer"}],
    ),
)

_QUERIES_AND_COMPLAINTS: tuple[Message, ...] = (
    Query(
        **BY_PLAYER,
        auth_token="tok_P01_0123456789abcdef0123456789abcdef",
        league_id=LEAGUE_ID,
        query_type="GET_NEXT_MATCH",
        query_params={"player_id": "P01"},
    ),
    QueryAnswer(
        **BY_LEAGUE,
        query_type="GET_NEXT_MATCH",
        success=True,
        data={"next_match": {"match_id": "R2M1", "round_id": 2, "opponent_id": "P03"}},
    ),
    LeagueErrorMessage(
        **BY_LEAGUE,
        error_code="E012",
        error_name="AUTH_TOKEN_INVALID",
        error_description="AUTH_TOKEN_INVALID",
        original_message_type="LEAGUE_QUERY",
        context={"expected_format": "tok_{agent_id}_{hash}"},
    ),
    GameErrorMessage(
        **BY_REFEREE,
        match_id="R1M1",
        error_code="E001",
        error_description="TIMEOUT_ERROR",
        affected_player="P02",
        action_required="CHOOSE_PARITY_RESPONSE",
        retry_info=RetryInfo(retry_count=1, max_retries=3, next_retry_at="2025-01-15T10:16:02Z"),
        consequence="Technical loss if max retries exceeded",
    ),
)

SAMPLES: dict[str, Message] = {
    name(type(sample)): sample
    for sample in (*_REGISTRATION, *_ROUNDS, *_PLAY, *_QUERIES_AND_COMPLAINTS)
}

UNSAMPLED = sorted(MESSAGES.keys() - SAMPLES.keys())
