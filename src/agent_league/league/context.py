"""What the parts of a league may use; the manager makes it, and the parts never see the manager."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from agent_league.clock import Clock, format_exact_time
from agent_league.dialects.dialect import Peer
from agent_league.league.keyring import Keyring
from agent_league.peers.line import Line
from agent_league.peers.lines import Peers
from agent_league.protocol import Envelope, Message, name
from agent_league.protocol.fields import parse_time
from agent_league.season.roster import Entry, Token
from agent_league.season.season import Season
from agent_league.store import EventLog
from agent_league.store.events import TokenExtended


@dataclass(frozen=True)
class Context:
    """The season, its log, and what a part needs to act."""

    season: Season
    events: EventLog
    clock: Clock
    envelope: Callable[[str], Envelope]
    """Returns the common fields of a message of this league, for a conversation id."""
    peers: Peers
    spawn: Callable[[Coroutine[Any, Any, Any]], object]
    """Runs a coroutine in the background, until the league is closed."""
    keyring: Keyring = field(default_factory=Keyring)
    count_audience: Callable[[], int] = field(default=lambda: 0)
    """Returns how many players this process tells the tables of its leagues."""

    def now(self) -> str:
        return format_exact_time(self.clock())

    def authenticate(self, message: Message, *, any_id: bool = False) -> Entry:
        """Return the agent that sent *message*, or raise `ProtocolError`.

        If *any_id*, it may call itself by another id than it was given: its token proves who it is.
        """
        about, now = name(type(message)), self.clock()
        entry, token = self.season.roster.authenticate(
            message.auth_token, message.sender, about, now, any_id=any_id
        )
        self._extend(entry, token, now)
        return entry

    def extend_token(self, token: str | None) -> None:
        """Let a token that is in use last: a league may take longer than its tokens."""
        now = self.clock()
        if holder := self.season.roster.holder(token, now):
            self._extend(*holder, now)

    def _extend(self, entry: Entry, token: Token, now: datetime) -> None:
        lifetime = _make_lifetime(self.season.settings.token_hours)
        if parse_time(token.expires) - now > lifetime / 2:
            return
        event = TokenExtended(
            at=self.now(),
            agent_id=entry.agent_id,
            token_hash=token.hash,
            expires=format_exact_time(now + lifetime),
        )
        self.events.note(event)

    def has_proof(self, message: Message) -> bool:
        """Whether the token of *message* was given to the agent itself.

        Anybody can register an endpoint again; the token for that proves nothing.
        """
        holder = self.season.roster.holder(message.auth_token, self.clock())
        return holder is not None and holder[1].proven

    def line(self, entry: Entry) -> Line:
        """Return the line to an agent, in the dialect that it asked for, or that was detected."""
        line = self.peers.line(entry.endpoint)
        if entry.dialect is None or entry.dialect == line.session.dialect:
            return line
        return self.peers.line_to(Peer(entry.endpoint, entry.agent_id, entry.dialect))


@lru_cache(maxsize=16)  # every report asks
def _make_lifetime(hours: float) -> timedelta:
    return timedelta(hours=hours)
