"""What the check does to a referee, as its league and its two players. It judges nothing."""

import asyncio
from contextlib import AsyncExitStack

from agent_league.check.exchange import Exchange
from agent_league.check.judging import refusal
from agent_league.check.letters import TICKET, Letters, match_name
from agent_league.check.seen import Bout, Progress, RefereeSeen, Trial
from agent_league.check.talks.caller import Caller
from agent_league.check.talks.reception import Reception
from agent_league.check.talks.seats import Manner, Seat, facing
from agent_league.protocol import ErrorCode, Role, tokens
from agent_league.vocabulary import Json

AT_ONCE = 5
TELL_EVERY = 10
HOLD = 2.0
"""How long a player of the check waits for the other to be asked as well."""
SERIES_FROM, TRIALS_FROM, TOGETHER_FROM = 100, 60, 20
NOT_OURS = frozenset(
    {ErrorCode.AUTH_TOKEN_MISSING, ErrorCode.AUTH_TOKEN_INVALID, ErrorCode.REFEREE_NOT_REGISTERED}
)
SPECIAL: dict[str, tuple[Manner, Manner]] = {
    "win": (Manner(("even",)), Manner(("odd",))),
    "draw": (Manner(("odd",)), Manner(("odd",))),
    "wrong case": (Manner(("even",)), Manner(("Odd", "odd"))),
    "declined": (Manner(("even",)), Manner(accept=False)),
    "twice": (Manner(("odd",)), Manner(("even",))),
    "silent": (Manner(("even",)), Manner(silent=True)),
}


class RefereeTalk:
    """A conversation with one referee, written down in *seen*."""

    def __init__(
        self,
        caller: Caller,
        letters: Letters,
        seen: RefereeSeen,
        progress: Progress,
        reception: Reception | None,
    ) -> None:
        self._caller, self._letters, self._seen = caller, letters, seen
        self._progress, self._reception = progress, reception
        hold = min(HOLD, caller.patience.move / 2)
        self._seats: tuple[Seat, Seat] = facing(letters, hold)
        self._registered = False

    async def hold(self, games: int, host: str) -> None:
        """Go through everything, with players at *host*; *games* is how many are run in a row."""
        self._seen.wanted = games
        self._registered = self._seen.registration is not None
        async with AsyncExitStack() as opened:
            for seat in self._seats:
                await seat.server.open(host)
                opened.push_async_callback(seat.server.close)
            try:
                await self._everything(games)
            finally:
                self._collect()

    async def _everything(self, games: int) -> None:
        self._progress("one match")
        await self._special("win")
        self._seen.calls = [self._seen.bouts["win"].order]
        if not self._taken(self._seen.bouts["win"]):
            return
        self._collect()
        if not self._seen.bouts["win"].ended:
            self._seen.stopped = "the first match did not come to its end"
            return
        for name in SPECIAL:
            if name not in self._seen.bouts:
                self._progress(f"a match: {name}")
                await self._special(name)
        await self._together()
        self._progress("bad input")
        await self._bad_input()
        await self._series(games)
        self._seen.stopped = "the check did not ask for it"

    def _taken(self, bout: Bout) -> bool:
        """Whether the referee took the first match, and if not, note why nothing follows."""
        if bout.order.refused and bout.order.error_code() in NOT_OURS:
            self._seen.calls = []
            self._seen.stopped = (
                "it takes matches only from the league it registered with: --league-port"
            )
        elif bout.order.problem() or refusal(bout.order):
            self._seen.stopped = "it did not take the first match"
        else:
            return True
        return False

    async def _special(self, name: str) -> None:
        number = list(SPECIAL).index(name)
        match_id = match_name(number)
        for seat, manner in zip(self._seats, SPECIAL[name], strict=True):
            seat.manners[match_id] = manner
        door = asyncio.Event()
        if name == "twice":
            self._seats[0].doors[match_id] = self._seats[1].doors[match_id] = door
        order = await self._caller.say_first(self._order(match_id), lambda said: not said.unknown)
        self._seen.shunned = self._caller.shunned
        chosen = tuple(manner.choices[-1] for manner in SPECIAL[name])
        bout = Bout(match_id, order, (chosen[0], chosen[1]))
        self._seen.bouts[name] = bout
        if name == "twice" and not order.problem():
            await self._caller.send(order.sent, order.allowed)
            door.set()
        await self._ends(bout, tries=3 if name == "silent" else 1)

    def _order(self, match_id: str, **changes: Json) -> Json:
        players = [seat.contestant() for seat in self._seats]
        return self._letters.order(match_id, players, self._proof(match_id), **changes)

    def _proof(self, match_id: str) -> str:
        """Return what only the league that admitted the referee can show it."""
        if self._reception is None:
            return TICKET
        token = self._reception.tokens[Role.REFEREE]
        return tokens.ticket(tokens.token_hash(token), match_id, TICKET)

    async def _ends(self, bout: Bout, tries: int = 1) -> None:
        """Wait until everybody was told the result, or nobody will be."""
        if bout.order.problem() or refusal(bout.order):
            return
        within = self._caller.patience.generic + tries * (self._caller.patience.join + HOLD)
        overs = [seat.server.hears(bout.match_id, within, "GAME_OVER") for seat in self._seats]
        told = await asyncio.gather(*overs)
        if all(told) and self._reception is not None and self._registered:
            report = self._caller.patience.report
            await self._reception.league.hears(bout.match_id, report, "MATCH_RESULT_REPORT")

    def _collect(self) -> None:
        """Write down what the stand-ins have heard."""
        first, second = (seat.server for seat in self._seats)
        for bout in self._seen.matches:
            match_id = bout.match_id
            bout.heard = (first.about(match_id), second.about(match_id))
            bout.joined = [seat.joined[match_id] for seat in self._seats if match_id in seat.joined]
            saw = [seat.saw_other_asked.get(match_id, False) for seat in self._seats]
            bout.asked_together = all(saw)
            if self._reception is not None:
                bout.reports = self._reception.league.about(match_id)

    async def _bad_input(self) -> None:
        trial, after = match_name(TRIALS_FROM), match_name(TRIALS_FROM + 1)
        for name, body in self._caller.spoiled(self._order(trial), required="match_id").items():
            bad = await self._caller.send(body)
            self._seen.trials[name] = Trial(bad, await self._caller.say(self._order(after)))
        strange = self._order(match_name(TRIALS_FROM + 2), game_type="quidditch")
        self._seen.strange_game = await self._caller.say(strange)
        named = self._order(match_name(TRIALS_FROM + 3))
        self._seen.string_id = await self._caller.say(named, id="check-1")

    async def _together(self) -> None:
        """Give it as many matches at once as it says it can run, up to a few."""
        most = min(AT_ONCE, capacity(self._seen.registration))
        if most <= 1:
            return
        self._progress(f"{most} matches at once")
        bouts = [self._plain_bout(match_name(TOGETHER_FROM + number)) for number in range(most)]
        self._seen.together = await asyncio.gather(*bouts)
        await asyncio.gather(*(self._ends(bout) for bout in self._seen.together))

    async def _plain_bout(self, match_id: str) -> Bout:
        return Bout(match_id, await self._caller.say(self._order(match_id)), ("odd", "odd"))

    async def _series(self, games: int) -> None:
        for number in range(games):
            if number % TELL_EVERY == 0:
                self._progress(f"match {number + 1} of {games} in a row")
            match_id = match_name(SERIES_FROM + number)
            bout = await self._plain_bout(match_id)
            self._seen.series.append(bout)
            await self._ends(bout)
            self._collect()
            if not bout.ended:
                return


def capacity(registration: Exchange | None) -> int:
    """Return how many matches at once a referee says it can run; 1 if it does not say."""
    meta = registration.asked.get("referee_meta") if registration else None
    said = meta.get("max_concurrent_matches") if isinstance(meta, dict) else None
    return said if type(said) is int else 1
