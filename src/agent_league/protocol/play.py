"""The messages of a match between the league, a referee and its players."""

from typing import ClassVar, Literal

from msgspec import Raw, Struct, field

from agent_league.protocol.fields import Count, FrequentTime, Ordinal, Parity, Sentence, Text
from agent_league.protocol.message import (
    LEAGUE,
    PLAYER,
    REFEREE,
    Message,
    Notice,
    Patience,
    Reply,
    Request,
    Route,
    check_time,
)
from agent_league.protocol.registration import Verdict
from agent_league.protocol.results import GameResult, ReportedResult
from agent_league.vocabulary import Json

SeatName = Literal["PLAYER_A", "PLAYER_B"]
Strictness = Literal["tolerant", "strict"]


class Retry(Struct, frozen=True, kw_only=True):
    """How often a call is tried, and how long to wait in between."""

    attempts: Ordinal = 3
    base_delay: float = 2.0
    backoff: Literal["exponential", "fixed"] = "exponential"
    jitter: bool = False


class Contestant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player as the league hands it to a referee."""

    player_id: Text
    endpoint: Text
    ticket: str
    """The referee shows it to this player; it gives no access to the league."""
    dialect: str = "league.v2"
    """The dialect it uses: `league.v2`, `league.v1`, or `mcp` if it is an MCP server."""
    tools: str | None = None
    """A hash of the tools that it had when the league first saw it; they must not change."""
    suspended: bool = False
    """It does not answer at present: it loses the match without being asked."""
    batched: bool = False
    """It takes the invitation and the first question of the match in one batch."""
    wins: Count = 0
    draws: Count = 0
    losses: Count = 0


class MatchAccepted(Message, frozen=True, kw_only=True, tag="START_MATCH_RESPONSE"):
    """A referee takes a match, or gives the reason why it cannot."""

    route: ClassVar[Route] = Route((REFEREE,), (LEAGUE,))

    match_id: Text
    status: Verdict
    reason: Sentence | None
    result: ReportedResult | None = None
    """How the match ended, if the referee played it before it answered: no report follows."""


class StartMatch(Request[MatchAccepted], frozen=True, kw_only=True, tag="START_MATCH"):
    """The league gives a match to a referee; the result comes later, as a report."""

    route: ClassVar[Route] = Route((LEAGUE,), (REFEREE,), "start_match")
    reply: ClassVar[type[Message]] = MatchAccepted

    league_id: Text
    round_id: Ordinal
    match_id: Text
    game_type: Text
    players: list[Contestant]
    ticket: Text
    """The report counts only with this ticket."""
    seed: Text
    """The secret from which all draws of this match come; players get its hash before they move."""
    options: dict[str, Json] = field(default_factory=dict)
    patience: Patience = Patience()
    retry: Retry = Retry()
    transcript: bool = False
    """Whether the league wants the transcript of the match with the report."""
    strictness: Strictness = "tolerant"
    """Whether the referee accepts deviations from the protocol, or refuses them."""
    auto: bool = True
    """False: the match waits for the tools collect_choices, draw_number, finalize_match."""


class JoinAck(Message, frozen=True, kw_only=True, tag="GAME_JOIN_ACK"):
    """A player takes its seat, or declines it."""

    route: ClassVar[Route] = Route((PLAYER,), (REFEREE,))

    match_id: Text
    player_id: Text
    arrival_timestamp: FrequentTime
    accept: bool

    def __post_init__(self) -> None:
        Message.__post_init__(self)  # `super` takes longer
        check_time("arrival_timestamp", self.arrival_timestamp)


class Invitation(Request[JoinAck], frozen=True, kw_only=True, tag="GAME_INVITATION"):
    """A referee offers a player a seat in a match."""

    route: ClassVar[Route] = Route((REFEREE,), (PLAYER,), "handle_game_invitation", "join")
    reply: ClassVar[type[Message]] = JoinAck

    league_id: Text
    round_id: Ordinal
    match_id: Text
    game_type: Text
    role_in_match: SeatName
    opponent_id: Text
    commitment: str | None = None
    """The SHA-256 of the secret from which all draws of the match come; GAME_OVER tells the secret."""


class Record(Struct, frozen=True, kw_only=True):
    """A player's results so far."""

    wins: Count
    losses: Count
    draws: Count


class MoveContext(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a player can know before it moves."""

    opponent_id: Text
    round_id: Ordinal
    your_standings: Record | None = None


class MoveReply(Message, frozen=True, kw_only=True):
    """A player's move; each kind of move call has its own reply."""

    match_id: Text
    player_id: Text


class MoveCall(Request[Reply], frozen=True, kw_only=True):
    """A referee asks a player to move."""

    match_id: Text
    player_id: Text
    game_type: Text
    deadline: FrequentTime
    context: MoveContext | None = None

    def __post_init__(self) -> None:
        Message.__post_init__(self)  # `super` takes longer
        check_time("deadline", self.deadline)


class ParityReply(MoveReply, frozen=True, kw_only=True, tag="CHOOSE_PARITY_RESPONSE"):
    """A player's call in Even/Odd."""

    route: ClassVar[Route] = Route((PLAYER,), (REFEREE,))

    move: Parity = field(name="parity_choice")


class ParityCall(MoveCall[ParityReply], frozen=True, kw_only=True, tag="CHOOSE_PARITY_CALL"):
    """A referee asks a player to call a parity."""

    route: ClassVar[Route] = Route((REFEREE,), (PLAYER,), "choose_parity", "move")
    reply: ClassVar[type[Message]] = ParityReply


class GameMoveReply(MoveReply, frozen=True, kw_only=True, tag="GAME_MOVE_RESPONSE"):
    """A player's move in any other game, in the form that the game defines."""

    route: ClassVar[Route] = Route((PLAYER,), (REFEREE,))

    move: Json


class GameMoveCall(MoveCall[GameMoveReply], frozen=True, kw_only=True, tag="GAME_MOVE_CALL"):
    """A referee asks a player to move in any other game, and shows what its seat may see."""

    route: ClassVar[Route] = Route((REFEREE,), (PLAYER,), "choose_move", "move")
    reply: ClassVar[type[Message]] = GameMoveReply

    view: Json
    legal_moves: list[Json]


class GameOver(Notice, frozen=True, kw_only=True, tag="GAME_OVER"):
    """A referee tells both players how their match ended."""

    route: ClassVar[Route] = Route((REFEREE,), (PLAYER,), "notify_match_result", "game_over")

    match_id: Text
    game_type: Text
    game_result: GameResult


class TranscriptPart(Notice, frozen=True, kw_only=True, tag="MATCH_TRANSCRIPT"):
    """A referee sends a part of a transcript that is too long for the report."""

    route: ClassVar[Route] = Route((REFEREE,), (LEAGUE,), "report_transcript", "report")

    match_id: Text
    ticket: Text
    part: Ordinal
    entries: list[Json]


class Violation(Struct, frozen=True, kw_only=True):
    """A rule of the protocol that a player broke in a match."""

    player_id: Text
    rule: Text
    """The id of the rule in docs/third-party-agents.md."""
    got: str
    """What the player sent: shortened, and without secrets."""


class ResultReport(Notice, frozen=True, kw_only=True, tag="MATCH_RESULT_REPORT"):
    """A referee tells the league how a match ended, and repeats it until it is acknowledged."""

    route: ClassVar[Route] = Route((REFEREE,), (LEAGUE,), "report_match_result", "report")

    league_id: Text
    round_id: Ordinal
    match_id: Text
    game_type: Text
    result: ReportedResult
    ticket: str | None = None
    transcript: list[Raw] = field(default_factory=list)
    """The messages of the match in order, each with its time, sender and receiver."""
    violations: list[Violation] = field(default_factory=list)
    """The deviations of the players from the protocol."""
