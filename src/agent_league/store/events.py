"""What can happen in a season. The season itself is what these add up to."""

from typing import ClassVar

from msgspec import Struct, field

from agent_league.vocabulary import Json


class Event(Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened, and when."""

    schema: ClassVar[int] = 1
    """Counts up when the fields change; `codec.UPGRADES` then tells how the old ones read."""

    at: str

    @property
    def once(self) -> str | None:
        """The key under which this can happen only once, if it has one."""
        return None


class SeasonOpened(Event, frozen=True, kw_only=True, tag="season_opened"):
    """Registration opens."""

    league_id: str
    game_type: str
    seed: str
    legs: int

    @property
    def once(self) -> str | None:
        return "season_opened"


class OrganiserAppointed(Event, frozen=True, kw_only=True, tag="organiser_appointed"):
    """Whoever holds this token runs the league; one that was appointed before does no more."""

    token_hash: str


class LeaguePaused(Event, frozen=True, kw_only=True, tag="league_paused"):
    """No match begins from now on."""


class LeagueContinued(Event, frozen=True, kw_only=True, tag="league_continued"):
    """Matches begin again."""


class AgentRegistered(Event, frozen=True, kw_only=True, tag="agent_registered"):
    """A player or a referee was admitted, or an admitted one came back from another address."""

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
    """Whether the league itself listens for this player, which moves by calling the league."""
    model: str | None = None
    """What a guest says that it is."""
    dialect: str | None = None
    """How it said that it is spoken to; None: as it is found to speak."""


class TokenIssued(Event, frozen=True, kw_only=True, tag="token_issued"):
    """An agent that had registered before was given another token.

    *proven* tells whether it showed the old one; only such a token may move the agent.
    """

    agent_id: str
    token_hash: str
    expires: str
    proven: bool


class AgentSuspended(Event, frozen=True, kw_only=True, tag="agent_suspended"):
    """An agent stopped answering."""

    agent_id: str
    why: str


class AgentRecovered(Event, frozen=True, kw_only=True, tag="agent_recovered"):
    """A suspended agent answers again."""

    agent_id: str


class ViolationNoted(Event, frozen=True, kw_only=True, tag="violation_noted"):
    """An agent broke a rule of the protocol; of each rule, once per match at most."""

    agent_id: str
    rule: str
    got: str
    """What came: short, and without secrets."""
    match_id: str | None = None


class AgentDisqualified(Event, frozen=True, kw_only=True, tag="agent_disqualified"):
    """A player is out: the matches that it has left are technical losses."""

    agent_id: str
    ground: str
    """The rule of the league that staff chose to be so strict about."""
    why: str


class SeasonStarted(Event, frozen=True, kw_only=True, tag="season_started"):
    """Registration closes; these play."""

    players: list[str]

    @property
    def once(self) -> str | None:
        return "season_started"


class ScheduledMatch(Struct, frozen=True, kw_only=True):
    """One match of a round."""

    match_id: str
    round_id: int
    first: str
    second: str


class RoundOpened(Event, frozen=True, kw_only=True, tag="round_opened"):
    """A round begins."""

    round_id: int
    matches: list[ScheduledMatch]

    @property
    def once(self) -> str | None:
        return f"round_opened:{self.round_id}"


class MatchAssigned(Event, frozen=True, kw_only=True, tag="match_assigned"):
    """A referee took a match; a later assignment of the same match replaces this one."""

    match_id: str
    referee_id: str
    ticket_hash: str


class MatchEnded(Event, frozen=True, kw_only=True, tag="match_ended"):
    """A match has its result, for good."""

    match_id: str
    round_id: int
    referee_id: str
    players: list[str]
    winner: str | None
    status: str
    termination: str
    technical_losses: list[str] = field(default_factory=list)
    details: dict[str, Json] = field(default_factory=dict)

    @property
    def once(self) -> str | None:
        return f"match_ended:{self.match_id}"


class MatchVoided(Event, frozen=True, kw_only=True, tag="match_voided"):
    """The organiser took a result out of the standings: what it was, and why it does not count."""

    match_id: str
    round_id: int
    players: list[str]
    winner: str | None
    technical_losses: list[str]
    why: str

    @property
    def once(self) -> str | None:
        return f"match_voided:{self.match_id}"


class RoundClosed(Event, frozen=True, kw_only=True, tag="round_closed"):
    """Every match of a round has ended."""

    round_id: int

    @property
    def once(self) -> str | None:
        return f"round_closed:{self.round_id}"


class SeasonEnded(Event, frozen=True, kw_only=True, tag="season_ended"):
    """Everybody has met everybody."""

    champion: str

    @property
    def once(self) -> str | None:
        return "season_ended"


class FarewellSaid(Event, frozen=True, kw_only=True, tag="farewell_said"):
    """Everybody who could be reached has been told how the season ended; nothing is left to do."""

    @property
    def once(self) -> str | None:
        return "farewell_said"
