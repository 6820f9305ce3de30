"""Manager, referee and players of a reference: who sends which message, and when.

The order is that of our league. Announce a round to everybody; for each match, with as many at
once as ours: order it, invite both players, ask both, tell both, report; close the round.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from bench.recording import Script, Value
from bench.references.stack import Stack

Pairing = tuple[int, int]
TABLE, COMPLETED = "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED"


@dataclass(frozen=True)
class AddressBook:
    """Where everybody listens."""

    manager: str
    referee: str
    players: Sequence[str]


def draw_rounds(players: int) -> list[list[Pairing]]:
    """Return who meets whom, round by round: everybody meets everybody."""
    others = list(range(1, players))
    rounds = []
    for _ in others:
        line = [0, *others]
        half = players // 2
        rounds.append(list(zip(line[:half], reversed(line[half:]), strict=True)))
        others.append(others.pop(0))
    return rounds


class Caller:
    """Sends the messages of a script, and counts them."""

    def __init__(self, stack: Stack, script: Script, book: AddressBook) -> None:
        self.stack, self.script, self.book = stack, script, book
        self.sent: Counter[str] = Counter()
        self.latencies_ms: list[float] = []

    async def send(self, kind: str, url: str, match_id: str | None = None) -> Value:
        """Send a message of the usual content; *match_id* tells the matches apart."""
        self.sent[kind] += 1
        request = self.script.exchanges[kind].request
        if match_id is not None:
            request = {**request, "params": {**request["params"], "match_id": match_id}}
        began = time.perf_counter()
        reply = await self.stack.call(url, request)
        self.latencies_ms.append(1000 * (time.perf_counter() - began))
        return reply

    def answer(self, request: Value) -> Value:
        """Return the usual reply to *request*."""
        kind = request["params"]["message_type"]
        return {**self.script.exchanges[kind].reply, "id": request["id"]}


class Referee(Caller):
    """Plays the matches that it is ordered to play."""

    def __init__(self, stack: Stack, script: Script, book: AddressBook) -> None:
        super().__init__(stack, script, book)
        self._matches: set[asyncio.Task[None]] = set()

    def answer(self, request: Value) -> Value:
        if request["params"]["message_type"] == "START_MATCH":
            task = asyncio.get_running_loop().create_task(self._play(request["params"]["match_id"]))
            self._matches.add(task)
            task.add_done_callback(self._matches.discard)
        return super().answer(request)

    async def _play(self, match_id: str) -> None:
        urls = [self.book.players[int(number)] for number in match_id.split("-")]
        for kind in ("GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"):
            await asyncio.gather(*(self.send(kind, url, match_id) for url in urls))
        await self.send("MATCH_RESULT_REPORT", self.book.manager, match_id)


class Manager(Caller):
    """Leads a season from its first round to its last result."""

    def __init__(self, stack: Stack, script: Script, book: AddressBook) -> None:
        super().__init__(stack, script, book)
        self._places = asyncio.Semaphore(script.capacity)
        self._running: dict[str, asyncio.Future[None]] = {}

    def answer(self, request: Value) -> Value:
        if request["params"]["message_type"] == "MATCH_RESULT_REPORT":
            self._running[request["params"]["match_id"]].set_result(None)
        return super().answer(request)

    async def run(self, rounds: int) -> None:
        """Play the first *rounds* of the season."""
        tables, total = self.script.count_broadcasts(TABLE), self.script.rounds
        completed = self.script.count_broadcasts(COMPLETED)
        for number, pairings in enumerate(islice(draw_rounds(self.script.players), rounds)):
            await self._tell_everybody("ROUND_ANNOUNCEMENT")
            await asyncio.gather(*(self._play(pairing) for pairing in pairings))
            if number < completed:  # the last may be told after the last result
                await self._tell_everybody(COMPLETED)
            if (number + 1) * tables // total > number * tables // total:
                await self._tell_everybody(TABLE)

    async def _tell_everybody(self, kind: str) -> None:
        everybody = [*self.book.players, self.book.referee]
        receivers = everybody[: self.script.receivers[kind]]
        await asyncio.gather(*(self.send(kind, url) for url in receivers))

    async def _play(self, pairing: Pairing) -> None:
        match_id = "{}-{}".format(*pairing)
        async with self._places:
            ended = self._running[match_id] = asyncio.get_running_loop().create_future()
            await self.send("START_MATCH", self.book.referee, match_id)
            await ended
        del self._running[match_id]
