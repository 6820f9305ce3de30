"""The lines of an agent to all its peers."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

from msgspec import Raw

from agent_league.clock import Clock
from agent_league.dialects import DIALECTS, OTHER_WAYS
from agent_league.dialects.detection import detect_dialect
from agent_league.dialects.dialect import Peer, PeerSession
from agent_league.http.exchange import Wire
from agent_league.peers.line import Line
from agent_league.peers.recording_wire import OnSent, RecordingWire
from agent_league.protocol import Message, failures
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.failures import NoAnswerError, NonsenseError
from agent_league.protocol.fields import VERSION
from agent_league.protocol.message import Patience, Request

Reply = TypeVar("Reply", bound=Message)
OnReply: TypeAlias = Callable[[str, bytes | Raw | NoAnswerError], None]


class Peers:
    """The lines of one agent; they last as long as the agent."""

    def __init__(self, wire: Wire, patience: Patience, clock: Clock) -> None:
        self.wire = wire
        self.on_sent: OnSent | None = None
        """Called with the address and the body of everything that is sent."""
        self.on_reply: OnReply | None = None
        """Called with the address and the result of everything that is sent."""
        self.patience, self._clock = patience, clock
        self._lines: dict[str, Line] = {}
        self._detected: set[str] = set()

    def line(self, url: str) -> Line:
        """Return the one line to *url*."""
        line = self._lines.get(url)
        if line is None:
            line = self._lines[url] = Line(self._connect(Peer(url)), self.patience)
            line.on_reply = partial(self.on_reply, url) if self.on_reply else None
        return line

    def line_to(self, peer: Peer) -> Line:
        """Return the line to *peer*, in the dialect of the peer if that is known."""
        line = self.line(peer.url)
        if peer.dialect is not None and peer.dialect != line.session.dialect:
            line.session = self._connect(peer)
        return line

    async def ask_in_any_dialect(
        self, peer: Peer, request: Request[Reply], ledger: Ledger
    ) -> tuple[Reply, str]:
        """Return the reply of *peer*, and the dialect in which it was understood.

        Other dialects than its own are tried only if it does not understand that.
        """
        first: NoAnswerError | None = None
        own = peer.dialect or VERSION
        for dialect in (own, *(other for other in OTHER_WAYS if other != own)):
            line = self.line_to(peer._replace(dialect=dialect))
            try:
                return await line.ask(request, ledger=ledger), dialect
            except NoAnswerError as error:
                first = first or error
                is_read = failures.is_final(error) and not isinstance(error, failures.NoPathError)
                if is_read or isinstance(error, failures.CrashedError):
                    raise
        self.line_to(peer._replace(dialect=own))
        raise first or NonsenseError("there is no dialect to ask in")

    async def detect_dialect(self, peer: Peer, within: float, *, renew: bool = False) -> None:
        """Find out in which dialect *peer* is reached, and look at its tools if it has some.

        With *renew*, its tools may have changed since the last look. Raise a `NoAnswerError` if
        it does not answer, or shows no tools that can be read.
        """
        found = peer._replace(dialect=await detect_dialect(peer.url, self.wire, within))
        line = self.line_to(found)
        if renew:
            line.session = self._connect(found)
        await line.session.check_tools(within)

    async def detect_dialect_once(self, peer: Peer, within: float) -> None:
        """Do the same for a *peer* that nobody has looked at before."""
        if peer.url not in self._detected:
            await self.detect_dialect(peer, within)
            self._detected.add(peer.url)

    def _connect(self, peer: Peer) -> PeerSession:
        wire = self.wire if self.on_sent is None else RecordingWire(self.wire, self.on_sent)
        return DIALECTS[peer.dialect or VERSION].connect(peer, wire, self._clock)
