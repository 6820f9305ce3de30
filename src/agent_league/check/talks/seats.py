"""The two players that the check sends into a referee's matches."""

import asyncio
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass

from agent_league.check.letters import PLAYERS, TICKET, Letters
from agent_league.check.talks.stand_ins import StandIn
from agent_league.clock import written
from agent_league.protocol.play import Contestant
from agent_league.vocabulary import Json


@dataclass(frozen=True)
class Manner:
    """How a seat behaves in one match."""

    choices: tuple[str, ...] = ("odd",)
    """What it answers when it is asked for the first time, the second time, ..."""
    accept: bool = True
    silent: bool = False
    """Whether it leaves invitations unanswered."""


class Seat:
    """One of the two players; how it behaves is told match by match."""

    def __init__(self, number: int, letters: Letters, hold: float) -> None:
        self.player_id = PLAYERS[number]
        self.manners: dict[str, Manner] = {}
        self.joined: dict[str, float] = {}
        """When it took its seat, by match."""
        self.asked: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """Set when it is asked to choose, by match."""
        self.other: Seat | None = None
        self.saw_other_asked: dict[str, bool] = {}
        self.doors: dict[str, asyncio.Event] = {}
        """An invitation to one of these matches is answered only when the event is set."""
        self.server = StandIn(self._reply)
        self._calls: Counter[str] = Counter()
        self._letters, self._hold = letters, hold

    def contestant(self) -> Contestant:
        return Contestant(player_id=self.player_id, endpoint=self.server.url, ticket=TICKET)

    async def _reply(self, said: Json) -> Json:
        answers = {"GAME_INVITATION": self._join, "CHOOSE_PARITY_CALL": self._choose}
        answer = answers.get(str(said.get("message_type")))
        return await answer(said) if answer else {"status": "ok"}

    async def _join(self, said: Json) -> Json:
        match_id = str(said.get("match_id"))
        manner = self.manners.get(match_id, Manner())
        if manner.silent:
            await asyncio.Event().wait()
        if match_id in self.doors:
            await self._waited(self.doors[match_id])
        self.joined.setdefault(match_id, asyncio.get_running_loop().time())
        now = written(self._letters.clock())
        return {
            **self._envelope(said, "GAME_JOIN_ACK"),
            "arrival_timestamp": now,
            "accept": manner.accept,
        }

    async def _choose(self, said: Json) -> Json:
        match_id = str(said.get("match_id"))
        self.asked[match_id].set()
        if self.other is not None and match_id not in self.saw_other_asked:
            together = await self._waited(self.other.asked[match_id])
            self.saw_other_asked[match_id] = together
        choices = self.manners.get(match_id, Manner()).choices
        choice = choices[min(self._calls[match_id], len(choices) - 1)]
        self._calls[match_id] += 1
        return {**self._envelope(said, "CHOOSE_PARITY_RESPONSE"), "parity_choice": choice}

    async def _waited(self, event: asyncio.Event) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._hold):
                await event.wait()
        return event.is_set()

    def _envelope(self, said: Json, kind: str) -> Json:
        conversation = str(said.get("conversation_id") or "conv-check")
        stamp = self._letters.stamp(f"player:{self.player_id}", conversation)
        about = {"match_id": said.get("match_id"), "player_id": self.player_id}
        return {**stamp, "message_type": kind, "auth_token": said.get("auth_token"), **about}


def facing(letters: Letters, hold: float) -> tuple[Seat, Seat]:
    """Return two seats that know of each other; *hold* is how long each waits for the other."""
    first, second = Seat(0, letters, hold), Seat(1, letters, hold)
    first.other, second.other = second, first
    return first, second
