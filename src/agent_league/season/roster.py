"""The roster: every agent of the league, its tokens and its state."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain, count
from typing import NamedTuple

from agent_league.protocol import ErrorCode, ProtocolError, Role, tokens
from agent_league.protocol.fields import normalise_endpoint, parse_time
from agent_league.store import events
from agent_league.store.events import Event


class Lifecycle(StrEnum):
    """The state of an agent, as the league sees it; before it registers it is in INIT."""

    INIT = "INIT"
    REGISTERED = "REGISTERED"
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    SHUTDOWN = "SHUTDOWN"
    DISQUALIFIED = "DISQUALIFIED"
    """Our addition: excluded for good, although it may still answer."""


# By themselves: in Python 3.11, to look one up in its class takes as long as to call a function.
ACTIVE, SUSPENDED = Lifecycle.ACTIVE, Lifecycle.SUSPENDED
DISQUALIFIED = Lifecycle.DISQUALIFIED
AWAY = {SUSPENDED, DISQUALIFIED}
"""The states in which an agent plays no matches, and is told how the league goes on if it listens."""


class Token(NamedTuple):
    """What is kept of a token: its hash, never the token itself."""

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
    """The dialect that it asked for; None: the league finds out."""
    nonce: str | None = None
    standings: str | None = None
    """Which updates of the table it asked for; None: all."""
    compact: bool = False
    """Whether it hears only of its own matches, and takes several notices in one batch."""
    batched: bool = False
    """Whether it takes the invitation and the first question of a match in one batch."""
    pooled: bool = False
    """Whether workers take its matches from a queue, so that there is nobody to call."""


REMEMBERED_TOKENS = 8


class Roster(dict[str, Entry]):
    """A fold over the events about agents: the entry of each, by its id."""

    def __init__(self) -> None:
        super().__init__()
        self._by_role: dict[Role, dict[str, Entry]] = defaultdict(dict)
        self._by_endpoint: dict[str, str] = {}
        self._by_hash: dict[str, str] = {}
        self._playing = False

    def of(self, *roles: Role) -> list[Entry]:
        """Return every agent of these roles, in the order of registration."""
        return [*chain.from_iterable(self._by_role[role].values() for role in roles)]

    def present(self, *roles: Role) -> list[Entry]:
        """Return the agents of these roles that take part now."""
        return [entry for entry in self.of(*roles) if entry.state not in AWAY]

    def at(self, endpoint: str) -> Entry | None:
        """Return the agent that registered *endpoint*, however it spelled it."""
        return self.get(self._by_endpoint.get(normalise_endpoint(endpoint), ""))

    def holder(self, token: str | None, now: datetime) -> tuple[Entry, Token] | None:
        """Return the agent that *token* belongs to, unless it is unknown or has expired."""
        if token is None:
            return None
        digest = tokens.hash_token(token)
        entry = self.get(self._by_hash.get(digest, ""))
        if entry is None:
            return None
        for known in entry.tokens:
            if tokens.is_same_secret(known.hash, digest) and parse_time(known.expires) > now:
                return entry, known
        return None

    def authenticate(
        self, token: str | None, sender: str, about: str, now: datetime, *, any_id: bool = False
    ) -> tuple[Entry, Token]:
        """Return the sender of a message and its token, which proves who it is.

        Raise `ProtocolError` if it proves nothing. If *any_id*, an agent may call itself by
        another id than it was given.
        """
        if token is None:
            detail = "auth_token: required in every message after registration"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_MISSING, detail, about=about)
        if holder := self.holder(token, now):
            if sender == f"{holder[0].role}:{holder[0].agent_id}":
                return holder
            if any_id and sender.startswith(f"{holder[0].role}:"):
                return holder
            detail = "sender: the token belongs to another agent"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about=about)
        role, _, agent_id = sender.partition(":")
        if role == Role.REFEREE and agent_id not in self:
            detail = f"referee {agent_id!r} must register first"
            raise ProtocolError(ErrorCode.REFEREE_NOT_REGISTERED, detail, about=about)
        detail, form = "auth_token: unknown or expired", {"expected_format": tokens.FORMAT}
        raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about=about, **form)

    def free_id(self, role: Role, sender: str) -> str:
        """Return the id in *sender* if it is valid and free, or else the next free one."""
        prefix = {Role.PLAYER: "P", Role.REFEREE: "REF"}[role]
        claimed = sender.partition(":")[2]
        if re.fullmatch(rf"{prefix}(0[1-9]|[1-9][0-9]{{1,3}})", claimed) and claimed not in self:
            return claimed
        numbered = (f"{prefix}{number:02}" for number in count(1))
        return next(agent_id for agent_id in numbered if agent_id not in self)

    def entries(self) -> list[Entry]:
        """Return every agent, in the order of registration."""
        return list(self.values())

    def restore(self, entries: Iterable[Entry], *, playing: bool) -> None:
        """Fill an empty roster with *entries* from a snapshot."""
        self._playing = playing
        for entry in entries:
            self._put(entry)
            self._by_hash.update({token.hash: entry.agent_id for token in entry.tokens})

    def apply(self, event: Event) -> None:  # noqa: C901 - one case for each kind
        """Update the roster; most events do not concern it."""
        match event:
            case events.AgentRegistered():
                self._register(event)
            case events.TokenIssued():
                entry = self[event.agent_id]
                token = Token(event.token_hash, event.expires, event.proven)
                self._put(replace(entry, tokens=_latest_tokens((*entry.tokens, token))))
            case events.AgentSuspended():
                self._set_state(event.agent_id, Lifecycle.SUSPENDED)
            case events.TokenExtended():
                entry = self[event.agent_id]
                self._put(replace(entry, tokens=tuple(_extend(event, one) for one in entry.tokens)))
            case events.TokenReplaced():
                token = Token(event.token_hash, event.expires, proven=True)
                self._put(replace(self[event.agent_id], tokens=(token,)))
            case events.AgentRecovered() | events.AgentReinstated():
                self._set_state(event.agent_id, self._active_state)
            case events.AgentDisqualified():
                self._set_state(event.agent_id, Lifecycle.DISQUALIFIED)
            case events.SeasonStarted():
                self._playing = True
                self._set_states({Lifecycle.REGISTERED}, Lifecycle.ACTIVE)
            case events.SeasonEnded():
                self._set_states({*Lifecycle} - {Lifecycle.DISQUALIFIED}, Lifecycle.SHUTDOWN)

    def _register(self, event: events.AgentRegistered) -> None:
        known = self.get(event.agent_id)
        if known is not None:
            self._by_endpoint.pop(normalise_endpoint(known.endpoint), None)
        is_out = known is not None and known.state is Lifecycle.DISQUALIFIED
        token = Token(event.token_hash, event.expires, proven=True)
        self._put(
            Entry(
                role=Role(event.role),
                agent_id=event.agent_id,
                display_name=event.display_name,
                version=event.version,
                endpoint=event.endpoint,
                game_types=tuple(event.game_types),
                capacity=event.capacity,
                tokens=_latest_tokens((*(known.tokens if known else ()), token)),
                state=Lifecycle.DISQUALIFIED if is_out else self._active_state,
                guest=event.guest,
                model=event.model,
                dialect=event.dialect,
                nonce=known.nonce if known else event.nonce,
                standings=event.standings,
                compact=event.compact,
                batched=event.batched,
                pooled=event.pooled,
            )
        )

    @property
    def _active_state(self) -> Lifecycle:
        return Lifecycle.ACTIVE if self._playing else Lifecycle.REGISTERED

    def _set_state(self, agent_id: str, state: Lifecycle) -> None:
        self._set(replace(self[agent_id], state=state))

    def _set_states(self, from_states: set[Lifecycle], state: Lifecycle) -> None:
        for entry in self.entries():
            if entry.state in from_states:
                self._set_state(entry.agent_id, state)

    def _set(self, entry: Entry) -> None:
        self[entry.agent_id] = self._by_role[entry.role][entry.agent_id] = entry

    def _put(self, entry: Entry) -> None:
        self._set(entry)
        self._by_endpoint[normalise_endpoint(entry.endpoint)] = entry.agent_id
        self._by_hash[entry.tokens[-1].hash] = entry.agent_id


def _extend(event: events.TokenExtended, token: Token) -> Token:
    return token._replace(expires=event.expires) if token.hash == event.token_hash else token


def _latest_tokens(issued: Sequence[Token]) -> tuple[Token, ...]:
    """Return the latest proven tokens and the latest others; the others cannot displace the proven."""
    proven = [token for token in issued if token.proven][-REMEMBERED_TOKENS:]
    others = [token for token in issued if not token.proven][-REMEMBERED_TOKENS:]
    return tuple(token for token in issued if token in proven or token in others)
