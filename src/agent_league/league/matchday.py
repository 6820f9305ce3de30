"""From a round's matches to their results: each goes to a referee, and to another if need be."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

from agent_league.agent import Agent, log
from agent_league.clock import written
from agent_league.dialects import Deviation, orders, rules
from agent_league.league.acquaintance import estranged, order_habits, peer_of
from agent_league.league.discipline import Discipline
from agent_league.league.officials import Officials
from agent_league.league.reports import walkover
from agent_league.league.roster import Entry, Lifecycle
from agent_league.league.season import Season
from agent_league.league.trays import Trays
from agent_league.league.watch import Watch
from agent_league.protocol import ErrorCode, tokens
from agent_league.protocol.play import Contestant, MatchAccepted, StartMatch
from agent_league.store import EventLog
from agent_league.store.events import MatchAssigned, MatchEnded, ScheduledMatch
from agent_league.transport import NoAnswerError, RefusedError
from agent_league.vocabulary import Json


class Matchday:
    """Has matches refereed; a match that gets lost with its referee is given to another."""

    def __init__(
        self,
        manager: Agent,
        season: Season,
        events: EventLog,
        officials: Officials,
        watch: Watch,
        discipline: Discipline,
    ) -> None:
        self._manager = manager
        self._season = season
        self._events = events
        self._officials = officials
        self._watch = watch
        self._discipline = discipline
        self._trays = Trays()
        self.decided: Callable[[MatchEnded], None] = lambda ended: self.ended(ended.match_id)
        """Told of each match that needed no referee."""
        self._pending: asyncio.Queue[ScheduledMatch] = asyncio.Queue()
        self._outcomes: dict[str, asyncio.Future[bool]] = {}
        """For each match that a referee has: True when it ended, False when it got lost."""
        self._going = asyncio.Event()
        self._left: set[str] = set()
        self._all_ended = asyncio.Event()
        self._attempts: dict[str, int] = {}
        self._tickets: dict[str, str] = {}

    async def play(self, matches: Iterable[ScheduledMatch], planned: Mapping[str, str]) -> None:
        """Return when every one of *matches* has its result."""
        self._left = {match.match_id for match in matches} - self._season.results.keys()
        self._all_ended.clear()
        self.look_whether_paused()
        for match in matches:
            if match.match_id in self._left:
                self._pending.put_nowait(match)
        dispatching = asyncio.ensure_future(self._dispatch(planned))
        try:
            if self._left:
                await self._all_ended.wait()
        finally:
            dispatching.cancel()

    def ended(self, match_id: str) -> None:
        """Take note that the league has the result of a match."""
        self._settle(match_id, ended=True)
        self._left.discard(match_id)
        self._tickets.pop(match_id, None)
        self._attempts.pop(match_id, None)
        if not self._left:
            self._all_ended.set()

    def look_whether_paused(self) -> None:
        """Let matches begin, or not, as the season says."""
        if self._season.paused:
            self._going.clear()
        else:
            self._going.set()

    def polled(self, referee: Entry) -> Json:
        """Return the next match of a referee that asks for its matches itself, or None."""
        mine = self._officials.matches_of(referee.agent_id)
        habits = order_habits(self._manager, referee)
        if self._trays.polled(referee.agent_id) and habits and habits.doubted(StartMatch):
            for match_id in sorted(mine & self._left):  # it was told of these, and likely in vain
                ticket = self._tickets[match_id]
                self._put_in_tray(self._season.matches[match_id], referee, ticket)
        return self._trays.taken(referee.agent_id, mine & self._left)

    def estranged(self, referee: Entry) -> bool:
        """Whether *referee* cannot know the tickets of its matches."""
        strange = referee.agent_id in self._trays or estranged(self._manager, referee)
        return strange and not self._season.settings.strict

    def remind(self, referee: Entry) -> None:
        """Order the matches of a referee that registered again once more, as they were.

        One that has forgotten them begins anew; one that has not goes on, whoever it was that
        registered in its name.
        """
        for match_id in self._officials.matches_of(referee.agent_id):
            match, ticket = self._season.matches[match_id], self._tickets.get(match_id)
            if ticket is not None:
                self._manager.spawn(self._reminded(match, referee, ticket))

    async def _reminded(self, match: ScheduledMatch, referee: Entry, ticket: str) -> None:
        if not await self._taken(match, referee, ticket):
            self._settle(match.match_id, ended=False)

    def lost(self, referee: Entry) -> None:
        """Take note that a referee is gone, and its matches with it."""
        for match_id in self._officials.matches_of(referee.agent_id):
            self._settle(match_id, ended=False)

    def repeat(self, match_id: str) -> None:
        """Take note that the result of a match does not count; give it out again in a moment."""
        outcome = self._outcomes.get(match_id)
        if outcome is not None:
            pause = self._season.settings.retry.base_delay
            asyncio.get_running_loop().call_later(pause, _lose, outcome)

    def _settle(self, match_id: str, *, ended: bool) -> None:
        outcome = self._outcomes.get(match_id)
        if outcome is not None and not outcome.done():
            outcome.set_result(ended)

    async def _dispatch(self, planned: Mapping[str, str]) -> None:
        while True:
            match = await self._pending.get()
            if self._walked_over(match):
                continue
            referee = await self._officials.take(match.match_id, planned.get(match.match_id))
            await self._going.wait()
            if match.match_id in self._left:
                self._manager.spawn(self._have_refereed(match, referee))
            else:  # a referee that was given up has reported it after all
                self._officials.release(referee.agent_id, match.match_id)

    def _walked_over(self, match: ScheduledMatch) -> bool:
        """Decide a match of a disqualified player without a referee; False if there is none."""
        players = [match.first, match.second]
        out = [p for p in players if self._season.roster[p].state is Lifecycle.DISQUALIFIED]
        if out and match.match_id in self._left:
            self._manager.spawn(self._decided(match, out))
        return bool(out)

    async def _decided(self, match: ScheduledMatch, out: list[str]) -> None:
        ended = walkover(match, out, written(self._manager.clock()))
        await self._events.append(ended)
        self.decided(ended)

    async def _have_refereed(self, match: ScheduledMatch, referee: Entry) -> None:
        outcome = asyncio.get_running_loop().create_future()
        self._outcomes[match.match_id] = outcome
        try:
            given = await self._give(match, referee)
            if given and await self._awaited(outcome, match, referee):
                return
        finally:
            self._officials.release(referee.agent_id, match.match_id)
            del self._outcomes[match.match_id]
        if match.match_id in self._left:
            self._pending.put_nowait(match)

    async def _awaited(
        self, outcome: "asyncio.Future[bool]", match: ScheduledMatch, referee: Entry
    ) -> bool:
        """Wait for the report, but not longer than a match can take."""
        if not await self._heeded(outcome, match, referee):
            return False
        try:
            async with asyncio.timeout(self._season.settings.lease(guests=self._guests_in(match))):
                return await outcome
        except TimeoutError:
            why = f"{match.match_id} was not reported in time"
            await self._watch.suspend(referee, why)
            return False

    async def _heeded(
        self, outcome: "asyncio.Future[bool]", match: ScheduledMatch, referee: Entry
    ) -> bool:
        """Order a match again, in another form each time, until something comes of it."""
        habits, patience = order_habits(self._manager, referee), self._season.settings.patience
        while habits and habits.doubted(StartMatch) and referee.agent_id not in self._trays:
            done, _ = await asyncio.wait({outcome}, timeout=patience.join + patience.move)
            if done and outcome.result():
                habits.heeded(StartMatch)
            if done or not habits.unheeded(StartMatch):
                return True
            if not await self._taken(match, referee, self._tickets[match.match_id]):
                return False
        return True

    async def _give(self, match: ScheduledMatch, referee: Entry) -> bool:
        """Offer the match to *referee*; False if it does not take it."""
        ticket = tokens.new_ticket()
        self._events.note(
            MatchAssigned(
                at=written(self._manager.clock()),
                match_id=match.match_id,
                referee_id=referee.agent_id,
                ticket_hash=tokens.token_hash(ticket),
            )
        )
        self._tickets[match.match_id] = ticket
        return await self._taken(match, referee, ticket)

    async def _taken(self, match: ScheduledMatch, referee: Entry, ticket: str) -> bool:
        if referee.agent_id in self._trays:
            return self._put_in_tray(match, referee, ticket)
        try:
            reply = await self._ordered(match, referee, ticket)
        except NoAnswerError as error:
            if not error.retryable and await self._polls(referee):
                return self._put_in_tray(match, referee, ticket)
            log.warning("%s does not take %s: %s", referee.agent_id, match.match_id, error)
            await self._watch.suspend(referee, "does not take matches")
            return False
        if reply.status == "ACCEPTED":
            return True
        log.warning("%s refuses %s: %s", referee.agent_id, match.match_id, reply.reason)
        self._officials.rest(referee.agent_id, self._season.settings.retry.base_delay)
        return False

    async def _polls(self, referee: Entry) -> bool:
        """Whether a referee that takes no order asks for its matches itself, as some do."""
        if self._season.settings.strict:
            return False
        return await self._trays.first_poll(
            referee.agent_id, self._season.settings.patience.generic
        )

    def _put_in_tray(self, match: ScheduledMatch, referee: Entry, ticket: str) -> bool:
        order = self._order(match, ticket, referee.keys[0])
        self._trays.put(referee.agent_id, match.match_id, orders.offered(order))
        form = Deviation(rules.ORDER_FORM, "a referee that asks for its matches")
        self._discipline.note(referee.agent_id, [form], match.match_id)
        return True

    async def _ordered(self, match: ScheduledMatch, referee: Entry, ticket: str) -> MatchAccepted:
        """Order the match with each secret that we may share with the referee."""
        *likely, last = referee.keys
        for key in likely:
            try:
                return await self._asked(self._order(match, ticket, key), referee)
            except RefusedError as error:
                if error.code is not ErrorCode.AUTH_TOKEN_INVALID:
                    raise
        return await self._asked(self._order(match, ticket, last), referee)

    async def _asked(self, order: StartMatch, referee: Entry) -> MatchAccepted:
        ledger = self._discipline.ledger(referee)
        try:
            return await self._manager.line(referee.endpoint).ask(order, ledger=ledger)
        finally:
            self._discipline.account(ledger, order.match_id)

    def _order(self, match: ScheduledMatch, ticket: str, key: str) -> StartMatch:
        settings = self._season.settings
        self._attempts[match.match_id] = self._attempts.get(match.match_id, 0) + 1
        conversation = f"conv-{match.match_id.lower()}-{self._attempts[match.match_id]:03}"
        return StartMatch(
            **self._manager.stamp(conversation),
            auth_token=tokens.ticket(key, match.match_id, ticket),
            league_id=settings.league_id,
            round_id=match.round_id,
            match_id=match.match_id,
            game_type=settings.game_type,
            players=[self._contestant(p, conversation) for p in (match.first, match.second)],
            ticket=ticket,
            seed=sha256(f"{settings.seed}|{match.match_id}".encode()).hexdigest(),
            options=dict(settings.options),
            patience=settings.patience_in(guests=self._guests_in(match)),
            retry=settings.retry,
            transcript=self._events.lasting,
            strictness=settings.strictness,
        )

    def _guests_in(self, match: ScheduledMatch) -> bool:
        return any(self._season.roster[player].guest for player in (match.first, match.second))

    def _contestant(self, player_id: str, conversation: str) -> Contestant:
        entry = self._season.roster[player_id]
        row = self._season.row(player_id)
        peer = peer_of(self._manager, entry)
        return Contestant(
            player_id=player_id,
            endpoint=peer.url,
            dialect=peer.dialect,
            tools=peer.tools,
            ticket=tokens.ticket(entry.keys[0], conversation, player_id),
            suspended=entry.state is Lifecycle.SUSPENDED,
            wins=row.wins,
            draws=row.draws,
            losses=row.losses,
        )


def _lose(outcome: "asyncio.Future[bool]") -> None:
    if not outcome.done():
        outcome.set_result(False)
