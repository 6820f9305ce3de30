"""A guest: to referees a player like any other; its moves come from whoever holds its token."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from agent_league.agent import Wire
from agent_league.guests.mailbox import Mailbox, MoveCall
from agent_league.league import GuestRules
from agent_league.player import Brain, Player, Turn
from agent_league.protocol import Acknowledgement
from agent_league.protocol.play import GameOver
from agent_league.protocol.registration import PlayerMeta
from agent_league.strategy import Situation
from agent_league.transport.endpoint import Endpoint
from agent_league.transport.exchange import Answer
from agent_league.transport.site import Site
from agent_league.vocabulary import Json

AWAY = Answer(503, b'{"error":"nobody is there"}')


def _mindless(situation: Situation) -> Json:
    raise NotImplementedError("a guest decides for itself")


class Guest(Player):
    """Plays what it is told to; it is there as long as somebody calls."""

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        meta: PlayerMeta,
        rules: GuestRules,
        **options: Any,
    ) -> None:
        mind = Brain(_mindless, "guest")
        super().__init__(name, wire, league_url, meta=meta, brain=mind, **options)
        self.mailbox = Mailbox(self._limit)
        self.told = asyncio.Event()
        """Set when the guest has been told that the league is over."""
        self.present = True
        self.returned: Callable[[Guest], None] = _unheard
        """Told when somebody calls who was away."""
        self._rules = rules
        self._calls = 0
        self._silence: asyncio.TimerHandle | None = None

    @property
    def endpoint(self) -> str:
        return self._meta.contact_endpoint

    def site(self) -> Site:
        """Return this guest in the league's dialect: nobody but the league and referees calls it."""
        endpoint = Endpoint(self.handlers(), {}, self.complaint)
        return Site(
            answer=lambda body, headers: endpoint.answer(body) if self.present else AWAY,
            look=self.look,
            body_limit=self.body_limit,
            too_large=endpoint.too_large,
        )

    def decide(self, call: MoveCall, turn: Turn) -> Awaitable[Json]:
        return self.mailbox.moved(call, turn)

    def match_over(self, over: GameOver) -> Acknowledgement:
        self.mailbox.forget(over.match_id)
        return super().match_over(over)

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Be there for the time of a call, and for a while after it."""
        self._calls += 1
        self._stop_counting()
        if not self.present:
            self.present = True
            self.returned(self)
        try:
            yield
        finally:
            self._calls -= 1
            self.await_call()

    def await_call(self) -> None:
        """Begin to count the seconds without a call, unless there is one."""
        self._stop_counting()
        if not self._calls:
            loop = asyncio.get_running_loop()
            self._silence = loop.call_later(self._rules.absence, self._leave)

    def _stop_counting(self) -> None:
        if self._silence is not None:
            self._silence.cancel()

    def _leave(self) -> None:
        self.present = False
        self.mailbox.give_up()

    def _limit(self) -> tuple[datetime, float]:
        seconds = self._rules.move
        return self.clock() + timedelta(seconds=seconds), seconds


def _unheard(guest: Guest) -> None:
    """Tell nobody that *guest* is back."""
