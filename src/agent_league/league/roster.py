"""Who is in the league: admitted, known by their tokens, followed through their lives."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

from agent_league.protocol import ErrorCode, ProtocolError, Role, tokens
from agent_league.protocol.fields import moment
from agent_league.store.events import (
    AgentDisqualified,
    AgentRecovered,
    AgentRegistered,
    AgentSuspended,
    Event,
    SeasonEnded,
    SeasonStarted,
    TokenIssued,
)


class Lifecycle(StrEnum):
    """An agent's life, as the league sees it; before it registers it is in INIT."""

    INIT = "INIT"
    REGISTERED = "REGISTERED"
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    SHUTDOWN = "SHUTDOWN"
    DISQUALIFIED = "DISQUALIFIED"
    """Ours: out for good, although it may still answer."""


AWAY = {Lifecycle.SUSPENDED, Lifecycle.DISQUALIFIED}
"""Those who are not told anything, nor given a match."""


class Token(NamedTuple):
    """What is kept of a token: never the token itself."""

    hash: str
    expires: str
    proven: bool


@dataclass(frozen=True)
class Entry:
    """One agent of the league."""

    role: Role
    agent_id: str
    display_name: str
    version: str
    endpoint: str
    game_types: tuple[str, ...]
    capacity: int
    tokens: tuple[Token, ...]
    state: Lifecycle = Lifecycle.REGISTERED
    guest: bool = False
    model: str | None = None
    dialect: str | None = None
    """How it said that it is spoken to; None: as it is found to speak."""

    @cached_property
    def keys(self) -> list[str]:
        """The secrets that we may share with it, the likeliest first: hashes of its tokens.

        Anybody can register an endpoint again and be given a token for it, so one that came
        without proof is tried last.
        """
        newest_first = self.tokens[::-1]
        return [token.hash for token in sorted(newest_first, key=lambda token: not token.proven)]


REMEMBERED_TOKENS = 8


class Roster:
    """A fold over the events that concern agents."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._by_role: dict[Role, list[str]] = defaultdict(list)
        self._by_endpoint: dict[str, str] = {}
        self._by_hash: dict[str, str] = {}
        self._playing = False
        self._folds: Mapping[type[Event], Callable[[Any], None]] = {
            AgentRegistered: self._registered,
            TokenIssued: self._token_issued,
            AgentSuspended: self._suspended,
            AgentRecovered: self._recovered,
            AgentDisqualified: self._disqualified,
            SeasonStarted: self._season_started,
            SeasonEnded: self._season_ended,
        }

    def __getitem__(self, agent_id: str) -> Entry:
        return self._entries[agent_id]

    def __contains__(self, agent_id: str) -> bool:
        return agent_id in self._entries

    def get(self, agent_id: str) -> Entry | None:
        return self._entries.get(agent_id)

    def of(self, *roles: Role) -> list[Entry]:
        return [self._entries[agent_id] for role in roles for agent_id in self._by_role[role]]

    def at(self, endpoint: str) -> Entry | None:
        """Return who listens at *endpoint*."""
        return self._entries.get(self._by_endpoint.get(endpoint, ""))

    def holder(self, token: str | None, now: datetime) -> tuple[Entry, Token] | None:
        """Return whose token this is, if it is anybody's and has not expired."""
        if token is None:
            return None
        digest = tokens.token_hash(token)
        entry = self._entries.get(self._by_hash.get(digest, ""))
        for known in entry.tokens if entry else ():
            if entry and tokens.same(known.hash, digest) and moment(known.expires) > now:
                return entry, known
        return None

    def authenticated(self, token: str | None, sender: str, about: str, now: datetime) -> Entry:
        """Return who sent a message, or raise `ProtocolError`; the token decides, not the name."""
        if token is None:
            detail = "auth_token: required in every message after registration"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_MISSING, detail, about=about)
        held = self.holder(token, now)
        if held is None:
            raise self._unknown(sender, about)
        if sender != f"{held[0].role}:{held[0].agent_id}":
            detail = "sender: the token belongs to another agent"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about=about)
        return held[0]

    def _unknown(self, sender: str, about: str) -> ProtocolError:
        role, _, agent_id = sender.partition(":")
        if role == Role.REFEREE and agent_id not in self:
            detail = f"referee {agent_id!r} must register first"
            return ProtocolError(ErrorCode.REFEREE_NOT_REGISTERED, detail, about=about)
        detail = "auth_token: unknown or expired"
        form = {"expected_format": tokens.FORMAT}
        return ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about=about, **form)

    def free_id(self, role: Role, sender: str) -> str:
        """Return the id that the agent claims in *sender*, if it is free, or else the next one."""
        prefix = {Role.PLAYER: "P", Role.REFEREE: "REF"}[role]
        claimed = sender.partition(":")[2]
        if re.fullmatch(rf"{prefix}(0[1-9]|[1-9][0-9]{{1,3}})", claimed) and claimed not in self:
            return claimed
        numbered = (f"{prefix}{number:02}" for number in count(1))
        return next(agent_id for agent_id in numbered if agent_id not in self)

    def entries(self) -> list[Entry]:
        """Return everybody, in the order in which they came."""
        return list(self._entries.values())

    def take_up(self, entries: Iterable[Entry], *, playing: bool) -> None:
        """Go on from *entries*, which an empty roster has once come to."""
        self._playing = playing
        for entry in entries:
            self._keep(entry)
            self._by_hash.update({token.hash: entry.agent_id for token in entry.tokens})

    def apply(self, event: Event) -> None:
        """Take *event* into account; most events do not concern the roster."""
        fold = self._folds.get(type(event))
        if fold is not None:
            fold(event)

    def _registered(self, event: AgentRegistered) -> None:
        known = self._entries.get(event.agent_id)
        if known is not None:
            self._by_endpoint.pop(known.endpoint, None)
        token = Token(event.token_hash, event.expires, proven=True)
        self._keep(
            Entry(
                role=Role(event.role),
                agent_id=event.agent_id,
                display_name=event.display_name,
                version=event.version,
                endpoint=event.endpoint,
                game_types=tuple(event.game_types),
                capacity=event.capacity,
                tokens=_remembered((*(known.tokens if known else ()), token)),
                state=known.state if known and _out(known) else self._awake,
                guest=event.guest,
                model=event.model,
                dialect=event.dialect,
            )
        )

    def _token_issued(self, event: TokenIssued) -> None:
        entry = self._entries[event.agent_id]
        token = Token(event.token_hash, event.expires, event.proven)
        self._keep(replace(entry, tokens=_remembered((*entry.tokens, token))))

    def _suspended(self, event: AgentSuspended) -> None:
        self._move(event.agent_id, Lifecycle.SUSPENDED)

    def _recovered(self, event: AgentRecovered) -> None:
        self._move(event.agent_id, self._awake)

    def _disqualified(self, event: AgentDisqualified) -> None:
        self._move(event.agent_id, Lifecycle.DISQUALIFIED)

    def _season_started(self, event: SeasonStarted) -> None:
        self._playing = True
        for entry in list(self._entries.values()):
            if entry.state is Lifecycle.REGISTERED:
                self._move(entry.agent_id, Lifecycle.ACTIVE)

    def _season_ended(self, event: SeasonEnded) -> None:
        for agent_id, entry in list(self._entries.items()):
            if not _out(entry):
                self._move(agent_id, Lifecycle.SHUTDOWN)

    @property
    def _awake(self) -> Lifecycle:
        return Lifecycle.ACTIVE if self._playing else Lifecycle.REGISTERED

    def _move(self, agent_id: str, state: Lifecycle) -> None:
        self._entries[agent_id] = replace(self._entries[agent_id], state=state)

    def _keep(self, entry: Entry) -> None:
        if entry.agent_id not in self._entries:
            self._by_role[entry.role].append(entry.agent_id)
        self._entries[entry.agent_id] = entry
        self._by_endpoint[entry.endpoint] = entry.agent_id
        self._by_hash[entry.tokens[-1].hash] = entry.agent_id


def _out(entry: Entry) -> bool:
    return entry.state is Lifecycle.DISQUALIFIED


def _remembered(issued: Sequence[Token]) -> tuple[Token, ...]:
    """Return the latest of the proven tokens, and of the others, which cannot push those out."""
    latest = {
        token
        for proven in (True, False)
        for token in [token for token in issued if token.proven is proven][-REMEMBERED_TOKENS:]
    }
    return tuple(token for token in issued if token in latest)
