"""The events of a season; `Season` is computed from them."""

from typing import ClassVar

from msgspec import Struct, field

from agent_league.protocol.results import MatchResult, Status, Termination, read_result
from agent_league.vocabulary import Json, PlayerId


class Event(Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened, and when."""

    schema: ClassVar[int] = 1
    """Counts up when the fields change; `codec.UPGRADES` then reads the older versions."""
    once_key: ClassVar[str] = ""
    """A key for what can happen only once, as a template over the event's own fields."""

    at: str

    @property
    def once(self) -> str | None:
        """The key under which this can happen only once, if it has one."""
        return self.once_key.format(self) if self.once_key else None


class SeasonOpened(Event, frozen=True, kw_only=True, tag="season_opened"):
    """Registration opens."""

    once_key: ClassVar[str] = "season_opened"

    league_id: str
    game_type: str
    seed: str
    legs: int
    commitment: str | None = None
    """The hash of the secret from which all draws come; older leagues have none."""


class OrganiserAppointed(Event, frozen=True, kw_only=True, tag="organiser_appointed"):
    """The holder of this token runs the league; earlier tokens are no longer valid."""

    token_hash: str


class LeaguePaused(Event, frozen=True, kw_only=True, tag="league_paused"):
    """No match begins from now on."""


class LeagueContinued(Event, frozen=True, kw_only=True, tag="league_continued"):
    """Matches begin again."""


class RegistrationSet(Event, frozen=True, kw_only=True, tag="registration_set"):
    """The organiser closed the registration of players before the season began, or opened it again."""

    closed: bool

    @property
    def word(self) -> str:
        return "closed" if self.closed else "open again"


class AgentRegistered(Event, frozen=True, kw_only=True, tag="agent_registered"):
    """A player or a referee was admitted, or an admitted one came back at another address."""

    role: str
    agent_id: str
    display_name: str
    version: str
    endpoint: str
    game_types: list[str]
    token_hash: str
    expires: str
    capacity: int = 1
    guest: bool = False
    """Whether this player has no server of its own, and moves by calling the league."""
    model: str | None = None
    """The model that a guest says it is."""
    dialect: str | None = None
    """The dialect that it asked for; None: the league finds out."""
    pooled: bool = False
    """Whether this referee has no server: workers take its matches from a queue."""
    nonce: str | None = None
    """What a player adds to the secrets of its matches; that of its first registration counts."""
    standings: str | None = None
    """Which updates of the table it asked for; None: all."""
    compact: bool = False
    """Whether it hears only of its own matches, and takes several notices in one batch."""
    batched: bool = False
    """Whether it takes the invitation and the first question of a match in one batch."""


class TokenIssued(Event, frozen=True, kw_only=True, tag="token_issued"):
    """An agent that had registered before got a new token."""

    agent_id: str
    token_hash: str
    expires: str
    proven: bool
    """Whether the agent showed its old token; else the new one cannot change its address."""


class AgentSuspended(Event, frozen=True, kw_only=True, tag="agent_suspended"):
    """An agent stopped answering."""

    agent_id: str
    why: str


class AgentRecovered(Event, frozen=True, kw_only=True, tag="agent_recovered"):
    """A suspended agent answers again."""

    agent_id: str


class ViolationNoted(Event, frozen=True, kw_only=True, tag="violation_noted"):
    """An agent broke a rule of the protocol; noted at most once per rule and match."""

    agent_id: str
    rule: str
    got: str
    """What the agent sent: shortened, and without secrets."""
    match_id: str | None = None


class AgentDisqualified(Event, frozen=True, kw_only=True, tag="agent_disqualified"):
    """A player is out: its remaining matches are technical losses."""

    agent_id: str
    ground: str
    """The name of the rule for which this league disqualifies."""
    why: str


class AgentReinstated(Event, frozen=True, kw_only=True, tag="agent_reinstated"):
    """A disqualified agent takes part again; what it lost meanwhile stays lost."""

    agent_id: str


class TokenExtended(Event, frozen=True, kw_only=True, tag="token_extended"):
    """A token that is in use is valid for longer."""

    agent_id: str
    token_hash: str
    expires: str


class TokenReplaced(Event, frozen=True, kw_only=True, tag="token_replaced"):
    """The organiser gave an agent a new token; all earlier ones are invalid."""

    agent_id: str
    token_hash: str
    expires: str


class EndOrdered(Event, frozen=True, kw_only=True, tag="end_ordered"):
    """The organiser ends the league early; what is left is not played."""

    once_key: ClassVar[str] = "end_ordered"

    why: str


class ManualPlayChosen(Event, frozen=True, kw_only=True, tag="manual_play_chosen"):
    """The organiser plays this match step by step."""

    match_id: str


class AnnouncementMade(Event, frozen=True, kw_only=True, tag="announcement_made"):
    """The organiser told everybody something."""

    text: str


class SeasonStarted(Event, frozen=True, kw_only=True, tag="season_started"):
    """Registration closes; these players take part."""

    once_key: ClassVar[str] = "season_started"

    players: list[str]


class ScheduledMatch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One match of a round."""

    match_id: str
    round_id: int
    first: str
    second: str
    game_type: str | None = None
    """What is played, in a league of several games."""
    commitment: str | None = None
    """The hash of the secret of this match, published before anybody moves."""
    nonces: list[str] = field(default_factory=list)
    """What the two players added to that secret, if one of them did."""


class RoundOpened(Event, frozen=True, kw_only=True, tag="round_opened"):
    """A round begins."""

    once_key: ClassVar[str] = "round_opened:{0.round_id}"

    round_id: int
    matches: list[ScheduledMatch]


class MatchAssigned(Event, frozen=True, kw_only=True, tag="match_assigned"):
    """A referee took a match; a later assignment of the same match replaces this one."""

    match_id: str
    referee_id: str
    ticket_hash: str


class MatchEnded(Event, frozen=True, kw_only=True, tag="match_ended"):
    """A match has its final result."""

    once_key: ClassVar[str] = "match_ended:{0.match_id}"

    match_id: str
    round_id: int
    referee_id: str
    players: list[str]
    winner: str | None
    status: Status
    termination: str
    technical_losses: list[str] = field(default_factory=list)
    details: dict[str, Json] = field(default_factory=dict)
    forfeits: dict[PlayerId, Termination] = field(default_factory=dict)
    """Why each player in *technical_losses* lost; events of older versions do not have it."""

    @classmethod
    def make(
        cls, match: ScheduledMatch, result: MatchResult, referee_id: str, at: str
    ) -> "MatchEnded":
        """Return the event that carries *result*, flat: so it has always been stored."""
        return cls(
            at=at,
            match_id=match.match_id,
            round_id=match.round_id,
            referee_id=referee_id,
            players=list(result.players),
            winner=result.winner,
            status=result.status,
            termination=result.termination,
            technical_losses=list(result.forfeits),
            details=result.details,
            forfeits=dict(result.forfeits),
        )

    @property
    def result(self) -> MatchResult:
        lost, why = self.technical_losses, self.termination
        return read_result(self.players, self.winner, lost, why, self.forfeits, self.details)


class ReportContested(Event, frozen=True, kw_only=True, tag="report_contested"):
    """A referee reported what cannot be true, or another result than before; kept as evidence."""

    once_key: ClassVar[str] = "report_contested:{0.match_id}:{0.referee_id}"

    match_id: str
    referee_id: str
    why: str
    winner: str | None
    details: dict[str, Json]


class ReportHeld(Event, frozen=True, kw_only=True, tag="report_held"):
    """A forfeit that counts only when another referee has played the match as well."""

    match_id: str
    referee_id: str
    forfeits: dict[PlayerId, Termination]


class MatchVoided(Event, frozen=True, kw_only=True, tag="match_voided"):
    """The organiser took this result out of the standings."""

    once_key: ClassVar[str] = "match_voided:{0.match_id}"

    match_id: str
    round_id: int
    players: list[str]
    winner: str | None
    technical_losses: list[str]
    why: str

    @property
    def result(self) -> MatchResult:
        return read_result(self.players, self.winner, self.technical_losses)


class MatchAdded(Event, frozen=True, kw_only=True, tag="match_added"):
    """The organiser has a match played again; the new one belongs to the same round."""

    once_key: ClassVar[str] = "match_added:{0.match_id}"

    match_id: str
    round_id: int
    first: str
    second: str
    replaces: str
    """The match that is played again; its own result is void."""
    game_type: str | None = None
    commitment: str | None = None
    nonces: list[str] = field(default_factory=list)

    @property
    def match(self) -> ScheduledMatch:
        return ScheduledMatch(
            match_id=self.match_id,
            round_id=self.round_id,
            first=self.first,
            second=self.second,
            game_type=self.game_type,
            commitment=self.commitment,
            nonces=self.nonces,
        )


class RoundClosed(Event, frozen=True, kw_only=True, tag="round_closed"):
    """Every match of a round has ended."""

    once_key: ClassVar[str] = "round_closed:{0.round_id}"

    round_id: int


class SeasonEnded(Event, frozen=True, kw_only=True, tag="season_ended"):
    """All rounds have been played."""

    once_key: ClassVar[str] = "season_ended"

    champion: str
    secret: str | None = None
    """The secret from which all draws came; its hash is in `SeasonOpened`."""


class FarewellSaid(Event, frozen=True, kw_only=True, tag="farewell_said"):
    """Every agent that could be reached knows how the season ended; nothing is left to do."""

    once_key: ClassVar[str] = "farewell_said"
