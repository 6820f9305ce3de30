"""Who is let in, and who is not, and why."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from agent_league.clock import written
from agent_league.dialects.versions import OWN_NAMES
from agent_league.league.roster import Entry, Roster
from agent_league.league.settings import LeagueSettings
from agent_league.protocol import ErrorCode, Role, tokens
from agent_league.protocol.fields import (
    OLDEST_SPOKEN,
    SPOKEN,
    VERSION,
    endpoint_problem,
    newer_or_same,
)
from agent_league.protocol.registration import PlayerMeta, RefereeMeta
from agent_league.store.events import AgentRegistered, TokenIssued


@dataclass(frozen=True)
class Applicant:
    """An agent that asks to be let in."""

    role: Role
    sender: str
    meta: PlayerMeta | RefereeMeta
    token: str | None
    league_id: str | None = None
    """The league it means to join, if it said so."""
    guest: bool = False
    """Whether it is one for whom the league itself listens."""
    model: str | None = None

    @property
    def display_name(self) -> str:
        return self.meta.display_name.strip()

    @property
    def dialect(self) -> str | None:
        return getattr(self.meta, "dialect", None)

    @property
    def spoken(self) -> str:
        return self.dialect or VERSION

    @property
    def capacity(self) -> int:
        return getattr(self.meta, "max_concurrent_matches", 1)


class Stay(NamedTuple):
    """From when to when a token is good."""

    begins: str
    ends: str


@dataclass(frozen=True)
class Refusal:
    """Why an agent stays outside."""

    reason: str
    code: ErrorCode


@dataclass(frozen=True)
class Admission:
    """An agent is in: what to remember, and the token that only it is told."""

    agent_id: str
    token: str
    event: AgentRegistered | TokenIssued


def judge(
    applicant: Applicant,
    roster: Roster,
    settings: LeagueSettings,
    *,
    started: bool,
    now: datetime,
) -> Admission | Refusal:
    """Return how the league answers *applicant*; one that is already in stays who it is."""
    stay = Stay(written(now), written(now + timedelta(hours=settings.token_hours)))
    refusal = _unfit(applicant, settings)
    if refusal:
        return refusal
    known = _known(applicant, roster, now)
    if isinstance(known, Refusal):
        return known
    if known is not None:
        return _again(applicant, known[0], stay, proven=known[1])
    refusal = _no_room(applicant, roster, settings, started=started)
    if refusal:
        return refusal
    return _admitted(applicant, roster.free_id(applicant.role, applicant.sender), stay)


def _unfit(applicant: Applicant, settings: LeagueSettings) -> Refusal | None:
    """Refuse an agent that could not take part whoever else is there."""
    meta = applicant.meta
    if applicant.league_id not in (None, settings.league_id):
        return Refusal(f"This is {settings.league_id}", ErrorCode.INVALID_FIELD_VALUE)
    problem = endpoint_problem(meta.contact_endpoint)
    if problem:
        return Refusal(f"Contact endpoint unreachable: {problem}", ErrorCode.INVALID_FIELD_VALUE)
    mismatch = _other_version(applicant, settings)
    if mismatch:
        detail = f"Protocol version mismatch: this league speaks {mismatch}"
        return Refusal(detail, ErrorCode.PROTOCOL_VERSION_MISMATCH)
    if settings.game_type not in meta.game_types:
        detail = f"this league plays {settings.game_type}"
        return Refusal(f"Unsupported game type: {detail}", ErrorCode.INVALID_FIELD_VALUE)
    return None


def _other_version(applicant: Applicant, settings: LeagueSettings) -> str | None:
    """Say what this league speaks, and what the applicant does, if that is not the same."""
    version = applicant.meta.protocol_version
    if version and not newer_or_same(version, OLDEST_SPOKEN):
        return f"{OLDEST_SPOKEN} to {SPOKEN}, not {version}"
    # A referee has to know orders, which only league.v2 has.
    if applicant.role is Role.PLAYER and applicant.spoken not in settings.protocols:
        return f"{' and '.join(settings.protocols)}, not {applicant.spoken}"
    return None


def _known(
    applicant: Applicant, roster: Roster, now: datetime
) -> tuple[Entry, bool] | Refusal | None:
    """Return who the applicant already is, and whether it proved it by its token."""
    held = roster.holder(applicant.token, now)
    resident = roster.at(applicant.meta.contact_endpoint)
    duplicate = Refusal("Duplicate endpoint: another agent listens there", ErrorCode.NOT_ALLOWED)
    if held is not None and held[0].role is applicant.role and held[1].proven:
        return (held[0], True) if resident in (None, held[0]) else duplicate
    if resident is None:
        return None
    if resident.guest:  # its endpoint is ours, and proves nothing
        return duplicate
    return (resident, False) if resident.role is applicant.role else duplicate


def _again(applicant: Applicant, known: Entry, stay: Stay, *, proven: bool) -> Admission:
    """Let an agent back in under its old id; only one that proved who it is may have moved."""
    if proven and known.endpoint != applicant.meta.contact_endpoint:
        return _admitted(applicant, known.agent_id, stay)
    token = tokens.new_token(known.agent_id)
    event = TokenIssued(
        at=stay.begins,
        agent_id=known.agent_id,
        token_hash=tokens.token_hash(token),
        expires=stay.ends,
        proven=proven,
    )
    return Admission(known.agent_id, token, event)


def _no_room(
    applicant: Applicant, roster: Roster, settings: LeagueSettings, *, started: bool
) -> Refusal | None:
    """Refuse a newcomer that comes too late, is one too many, or has somebody's name."""
    if started:
        reason = "Registration closed - league already started"
        return Refusal(reason, ErrorCode.LATE_REGISTRATION)
    peers = roster.of(applicant.role)
    if applicant.role is Role.PLAYER and len(peers) >= settings.max_players:
        return Refusal("Maximum players reached", ErrorCode.NOT_ALLOWED)
    names = {peer.display_name.casefold() for peer in peers}
    unique = settings.unique_names or applicant.spoken in OWN_NAMES
    if unique and applicant.display_name.casefold() in names:
        return Refusal("Duplicate display name", ErrorCode.NOT_ALLOWED)
    return None


def _admitted(applicant: Applicant, agent_id: str, stay: Stay) -> Admission:
    token = tokens.new_token(agent_id)
    event = AgentRegistered(
        at=stay.begins,
        role=applicant.role,
        agent_id=agent_id,
        display_name=applicant.display_name,
        version=applicant.meta.version,
        endpoint=applicant.meta.contact_endpoint,
        game_types=list(applicant.meta.game_types),
        token_hash=tokens.token_hash(token),
        expires=stay.ends,
        capacity=applicant.capacity,
        guest=applicant.guest,
        model=applicant.model,
        dialect=applicant.dialect,
    )
    return Admission(agent_id, token, event)
