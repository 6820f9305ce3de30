"""A guest: a player to the referees, but its moves come from whoever holds its token."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from agent_league.guests.mailbox import Mailbox
from agent_league.http.exchange import Answer, HttpRequest, Response, Wire
from agent_league.http.memory import Network
from agent_league.http.site import Headers, Site
from agent_league.own_time import Deadline, own_time
from agent_league.peers.endpoint import Endpoint
from agent_league.player import Brain, MoveCall, Player, Turn
from agent_league.protocol import Acknowledgement, ErrorCode, ProtocolError
from agent_league.protocol.play import GameOver
from agent_league.protocol.queries import RefereeClaim
from agent_league.protocol.registration import PlayerMeta
from agent_league.season.settings import GuestRules
from agent_league.strategy import Situation
from agent_league.vocabulary import Json

MOST_CALLS = 8
"""How many calls of one guest may wait at once: each takes a connection from the others."""
ABSENT = Answer(503, b'{"error":"nobody is there"}')


def _no_strategy(situation: Situation) -> Json:
    raise NotImplementedError("a guest decides for itself")


class Host(Protocol):
    """What a guest uses of the league that hosts it."""

    def keys_of(self, player_id: str) -> Sequence[str]:
        """Return the secrets that the league shares with a player."""
        ...

    async def confirm_referee(self, player_id: str, claim: RefereeClaim) -> bool:
        """Return whether the referee of a match of *player_id* makes *claim*."""
        ...

    def greet(self, player_id: str) -> None:
        """Find out that a player that was absent is back."""
        ...


class Guest(Player):
    """Plays the moves that it is given; it is present as long as somebody calls for it."""

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        meta: PlayerMeta,
        rules: GuestRules,
        host: Host,
        **options: Any,
    ) -> None:
        brain = Brain(_no_strategy, "guest")
        super().__init__(name, wire, league_url, meta=meta, brain=brain, **options)
        self.league_signs = True
        self._host = host
        self.mailbox = Mailbox(self.clock, rules.move)
        self.end_delivered = asyncio.Event()
        """Set when the guest has learned that the league is over."""
        self.present = True
        self.site = self._make_site()
        self._absence = rules.absence
        self._calls = 0
        self._absence_deadline = Deadline(self._leave)

    def _make_site(self) -> Site:
        """Return the site for the league and referees, without pages."""
        endpoint = Endpoint(self.handlers(), {}, self)

        def answer(body: bytes, headers: Headers) -> Answer | Awaitable[Answer]:
            return endpoint.answer(body) if self.present else ABSENT

        return Site(
            answer=answer,
            find_page=lambda path: None,
            body_limit=self.body_limit,
            too_large=endpoint.too_large,
            too_many=endpoint.too_many,
        )

    def keys(self) -> Sequence[str]:
        """Return the hashes of its tokens, which the league keeps; only the guest has the tokens."""
        return self._host.keys_of(self.name)

    async def confirm_referee(self, claim: RefereeClaim) -> bool:
        return await self._host.confirm_referee(self.name, claim)

    def decide(self, call: MoveCall, turn: Turn) -> Awaitable[Json]:
        return self.mailbox.wait_for_move(call, turn)

    def on_match_over(self, notice: GameOver) -> Acknowledgement:
        self.mailbox.forget(notice.match_id)
        return super().on_match_over(notice)

    @contextmanager
    def active_call(self) -> Iterator[None]:
        """Keep the guest present during a call, and for a while after it.

        Raise `ProtocolError` if too many calls of it are waiting.
        """
        if self._calls >= MOST_CALLS:
            detail = f"{MOST_CALLS} calls of yours are waiting; let one of them end first"
            raise ProtocolError(ErrorCode.TOO_MANY_REQUESTS, detail)
        self._calls += 1
        self._absence_deadline.cancel()
        if not self.present:
            self.present = True
            self._host.greet(self.name)
        try:
            yield
        finally:
            self._calls -= 1
            self.start_absence_timer()

    def start_absence_timer(self) -> None:
        """Count the seconds without a call, unless a call is being answered."""
        self._absence_deadline.cancel()
        if not self._calls:
            self._absence_deadline.set(own_time() + self._absence)

    def _leave(self) -> None:
        self.present = False
        self.mailbox.give_up()


class GuestWire:
    """Reaches the guests of this league directly, and every other agent over *wire*.

    A guest counts as listening while somebody calls for it. So the league suspends a guest that
    has gone, and brings it back when it returns, as it does with any player.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._network = Network()
        self.guests: dict[str, Guest] = {}
        """The guests that are hosted, by endpoint."""

    def add(self, guest: Guest) -> None:
        self.guests[guest.endpoint] = guest
        self._network.host(guest.endpoint, guest.site)

    def remove(self, guest: Guest) -> None:
        del self.guests[guest.endpoint]
        self._network.unhost(guest.endpoint)

    def post(self, url: str, body: bytes, within: float) -> Awaitable[Answer]:
        return self._choose_wire(url).post(url, body, within)

    def exchange(self, url: str, http_request: HttpRequest, within: float) -> Awaitable[Response]:
        return self._choose_wire(url).exchange(url, http_request, within)

    def get(self, url: str, within: float) -> Awaitable[Answer]:
        return self._wire.get(url, within)

    async def reaches(self, url: str, within: float) -> bool:
        guest = self.guests.get(url)
        return guest.present if guest else await self._wire.reaches(url, within)

    async def listens(self, url: str, within: float) -> bool:
        guest = self.guests.get(url)
        return guest.present if guest else await self._wire.listens(url, within)

    def _choose_wire(self, url: str) -> Wire:
        return self._network if url in self.guests else self._wire
