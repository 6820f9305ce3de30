"""Which agents are admitted to a league, which are refused, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import msgspec

from agent_league.clock import format_exact_time
from agent_league.league.names import is_reserved, make_skeleton
from agent_league.protocol import ErrorCode, Role, fields, tokens
from agent_league.protocol.registration import (
    PlayerMeta,
    RefereeMeta,
    RegisterPlayer,
    RegisterReferee,
)
from agent_league.protocol.versions import UNIQUE_NAME_VERSIONS
from agent_league.season.roster import Entry, Roster
from agent_league.season.season import Season, Stage
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AgentRegistered, TokenIssued

Application: TypeAlias = RegisterPlayer | RegisterReferee
Meta: TypeAlias = PlayerMeta | RefereeMeta


@dataclass(frozen=True)
class Refusal:
    """Why an agent is not admitted."""

    reason: str
    code: ErrorCode


MAX_REFEREES = 200
"""More than any league needs; whoever registers more only wants to fill the memory."""
Known: TypeAlias = tuple[Entry, bool]
"""An agent that registered before, and whether it has proved that it is this one."""
WRONG_CODE = "Join code missing or wrong: the organiser of the league gives it (join_code)"
TOO_LATE = Refusal("Registration closed - league already started", ErrorCode.LATE_REGISTRATION)

CLOSED = Refusal("Registration closed by the organiser", ErrorCode.LATE_REGISTRATION)


@dataclass(frozen=True)
class Admission:
    """An admitted agent: the event to keep, and the token, which only the agent gets."""

    agent_id: str
    token: str
    event: AgentRegistered | TokenIssued


def judge(
    application: Application,
    season: Season,
    now: datetime,
    *,
    guest: bool = False,
    model: str | None = None,
) -> Admission | Refusal:
    """Return how the league answers *application*; an agent that registers again keeps its id.

    The league hosts the endpoint of a *guest*, which may say that it is a *model*.
    """
    settings, roster, role = season.settings, season.roster, _role_of(application)
    known = _check_eligibility(application, settings) or _identify(application, roster, now)
    student = find_student(application.join_code, settings)
    if not isinstance(known, Refusal):
        known = _check_code(application, season, known, student)
    if known is None:
        known = _check_newcomer(application, season)
    elif not isinstance(known, Refusal) and not _takes_part(known[0], season):
        known = TOO_LATE
    if isinstance(known, Refusal):
        return known
    meta = application.meta
    entry, proven = known or (None, True)
    agent_id = entry.agent_id if entry else roster.free_id(role, application.sender)
    token = tokens.new_token(agent_id)
    issued: dict[str, Any] = {
        "at": format_exact_time(now),
        "agent_id": agent_id,
        "token_hash": tokens.hash_token(token),
        "expires": format_exact_time(now + timedelta(hours=settings.token_hours)),
    }
    # Only an agent that has proved who it is may change its endpoint.
    if entry and (not proven or entry.endpoint == meta.contact_endpoint):
        return Admission(agent_id, token, TokenIssued(**issued, proven=proven))
    issued |= {"role": role, "guest": guest, "model": model}
    registration = _make_registration(meta, issued)
    if student is not None and role is Role.PLAYER:
        registration = msgspec.structs.replace(registration, display_name=student)
    return Admission(agent_id, token, registration)


def find_student(code: str | None, settings: LeagueSettings) -> str | None:
    """Return the student to whom *code* belongs."""
    digest = tokens.hash_token(code or "")
    return next((name for name, known in settings.students.items() if known == digest), None)


def _check_code(
    application: Application, season: Season, known: Known | None, student: str | None
) -> Known | Refusal | None:
    """Refuse whoever has neither the code of the league nor one of their own, nor a token.

    The code of a student proves who it is, so that one who lost its token comes back with it.
    """
    settings = season.settings
    if settings.join_code is None or (known is not None and known[1]):
        return known
    if tokens.is_same_secret(application.join_code or "", settings.join_code):
        return known
    if student is None or _role_of(application) is not Role.PLAYER:
        return Refusal(WRONG_CODE, ErrorCode.NOT_ALLOWED)
    own = [one for one in season.roster.of(Role.PLAYER) if one.display_name == student]
    if known is not None and known[0] not in own:
        return Refusal("Duplicate endpoint: another agent listens there", ErrorCode.NOT_ALLOWED)
    return (own[0], True) if own else None


def _make_registration(meta: Meta, issued: Mapping[str, Any]) -> AgentRegistered:
    return AgentRegistered(
        **issued,
        display_name=meta.display_name.strip(),
        version=meta.version,
        endpoint=meta.contact_endpoint,
        game_types=list(meta.game_types),
        capacity=getattr(meta, "max_concurrent_matches", 1),
        dialect=getattr(meta, "dialect", None),
        nonce=getattr(meta, "nonce", None),
        standings=getattr(meta, "standings_updates", None),
        compact=getattr(meta, "notices", None) == "compact",
        batched=getattr(meta, "questions", None) == "batched",
    )


def _role_of(application: Application) -> Role:
    return application.route.sender[0]


def _dialect_of(meta: Meta) -> str:
    return getattr(meta, "dialect", None) or fields.VERSION


def _check_eligibility(application: Application, settings: LeagueSettings) -> Refusal | None:
    """Refuse an agent that cannot take part in this league at all."""
    meta = application.meta
    if application.league_id not in (None, *settings.names):
        return Refusal(f"This is {settings.league_id}", ErrorCode.INVALID_FIELD_VALUE)
    problem = fields.find_endpoint_problem(meta.contact_endpoint)
    if problem:
        return Refusal(f"Contact endpoint unreachable: {problem}", ErrorCode.INVALID_FIELD_VALUE)
    mismatch = _find_version_mismatch(meta, settings)
    if mismatch:
        detail = f"Protocol version mismatch: this league speaks {mismatch}"
        return Refusal(detail, ErrorCode.PROTOCOL_VERSION_MISMATCH)
    declared = [game in meta.game_types for game in settings.games]
    # A player needs one of the games, a referee all of them.
    if not (any if isinstance(meta, PlayerMeta) else all)(declared):
        detail = f"this league plays {', '.join(settings.games)}"
        return Refusal(f"Unsupported game type: {detail}", ErrorCode.INVALID_FIELD_VALUE)
    return None


def _find_version_mismatch(meta: Meta, settings: LeagueSettings) -> str | None:
    """Return the versions of this league and of the agent, if they do not fit."""
    version, oldest = meta.protocol_version, fields.OLDEST_SUPPORTED_VERSION
    if version and not fields.is_at_least(version, oldest):
        return f"{oldest} to {fields.SUPPORTED_VERSION}, not {version}"
    dialect = _dialect_of(meta)
    # Referees need orders, which only league.v2 has.
    if isinstance(meta, PlayerMeta) and dialect not in settings.protocols:
        return f"{' and '.join(settings.protocols)}, not {dialect}"
    return None


def _identify(
    application: Application, roster: Roster, now: datetime
) -> tuple[Entry, bool] | Refusal | None:
    """Return which known agent applies, and whether its token proves that."""
    role, holder = _role_of(application), roster.holder(application.auth_token, now)
    resident = roster.at(application.meta.contact_endpoint)
    duplicate = Refusal("Duplicate endpoint: another agent listens there", ErrorCode.NOT_ALLOWED)
    if holder is not None and holder[0].role is role and holder[1].proven:
        return (holder[0], True) if resident in (None, holder[0]) else duplicate
    if resident is None:
        return None
    if resident.guest or resident.role is not role:  # we host the endpoints of guests
        return duplicate
    return resident, False


def _takes_part(entry: Entry, season: Season) -> bool:
    """Whether a known agent has a place: a player that never answered has none once it began."""
    began = season.stage is not Stage.REGISTRATION
    return not began or entry.role is not Role.PLAYER or entry.agent_id in season.players


def _check_newcomer(application: Application, season: Season) -> Refusal | None:
    """Refuse a new agent that comes too late, is one too many, or takes a name that is in use."""
    role, meta, settings = _role_of(application), application.meta, season.settings
    closed = _check_time(role, season)
    if closed is not None:
        return closed
    peers = season.roster.present(role)
    if role is Role.PLAYER and len(peers) >= settings.max_players:
        return Refusal("Maximum players reached", ErrorCode.NOT_ALLOWED)
    if role is Role.REFEREE and len(peers) >= MAX_REFEREES:
        return Refusal("Maximum referees reached", ErrorCode.NOT_ALLOWED)
    unique = settings.unique_names or _dialect_of(meta) in UNIQUE_NAME_VERSIONS
    names = {make_skeleton(peer.display_name) for peer in peers} if unique else set()
    if make_skeleton(meta.display_name) in names:
        return Refusal("Duplicate display name", ErrorCode.NOT_ALLOWED)
    return _check_name(meta.display_name, settings) if role is Role.PLAYER else None


def _check_name(display_name: str, settings: LeagueSettings) -> Refusal | None:
    """Refuse a player whose name is the league's own, or belongs to another division."""
    division = settings.division
    if division and not division.admits(display_name.strip()):
        reason = f"Another division: this is number {division.number} of {division.competition}"
        return Refusal(f"{reason}, which names who plays in it", ErrorCode.NOT_ALLOWED)
    if is_reserved(display_name):
        return Refusal("Reserved display name", ErrorCode.NOT_ALLOWED)
    return None


def _check_time(role: Role, season: Season) -> Refusal | None:
    """Refuse an agent of *role* while nobody like it may register."""
    is_open = season.stage is Stage.REGISTRATION
    if not is_open and (role is Role.PLAYER or season.stage is Stage.COMPLETED):
        return TOO_LATE
    return CLOSED if role is Role.PLAYER and season.registration_closed else None
