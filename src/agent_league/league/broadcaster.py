"""Sends notices to the members of a league, to each in its own time."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from agent_league.agent import log
from agent_league.dialects.dialect import Outgoing, StartedBatch, StartedCall, encode_message
from agent_league.http.exchange import Answer
from agent_league.league.context import Context
from agent_league.league.discipline import Discipline
from agent_league.league.liveness import Liveness
from agent_league.peers.line import Line
from agent_league.peers.outbox import Outbox, QueuedMessage, Urgency
from agent_league.printable import make_printable
from agent_league.protocol import Message, Notice, Role, name, rounds, tokens
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.failures import NoAnswerError, RefusedError
from agent_league.protocol.rounds import LeagueCompleted
from agent_league.season.roster import AWAY, Entry

ACTED_ON = (LeagueCompleted, rounds.RoundAnnouncement)
"""A member leaves because of the one, and learns from the other where its referees listen."""


def sign_notice(outgoing: Outgoing, league_id: str, keys: tuple[str, ...]) -> Outgoing:
    """Return the notice with a proof that it is the league's."""
    proof = _prove_notice(outgoing.kind, league_id, keys)
    return Outgoing(outgoing.kind, outgoing.body[:-1] + proof, outgoing.get_extras)


@lru_cache(maxsize=4096)  # it is the same in every round
def _prove_notice(kind: type[Message], league_id: str, keys: tuple[str, ...]) -> bytes:
    """Return the last field of a notice."""
    proof = tokens.sign_for_any(keys, name(kind), league_id)
    return b',"auth_token":"%b"}' % proof.encode()


class Broadcaster:
    """Sends notices to the members of a league.

    Each agent has its own queue, so that a slow one delays nobody.
    """

    def __init__(self, context: Context, liveness: Liveness, discipline: Discipline) -> None:
        self._line, self._spawn = context.line, context.spawn
        self._roster = context.season.roster
        self._keys_of = context.keyring.keys_of
        self._league_id = context.season.settings.league_id
        self._liveness = liveness
        self._discipline = discipline
        self._outboxes: dict[str, Outbox] = {}
        self._is_closed = False
        self._wants_token: set[str] = set()
        """The agents that take no notice without a token."""
        self._complained: set[str] = set()
        """The agents whose operator was told that they do not take their notices."""

    def tell(
        self,
        notice: Notice,
        urgency: Urgency = Urgency.NEWS,
        replaces: str | None = None,
        prepare_extras: Callable[[], Callable[[], Mapping[str, Any]]] | None = None,
        instead: Mapping[str, Outgoing] = MappingProxyType({}),
        is_for: Callable[[Entry], bool] | None = None,
    ) -> Mapping[str, QueuedMessage]:
        """Queue *notice* for every agent of the roles that it is for, also for one that is away.

        It goes only to those that it *is_for*, and some get something else *instead*.
        *prepare_extras* is called now, if there is an agent whose dialect adds something to the
        notice; it returns a function that writes that. The message to each agent leaves when it
        has reached it, or cannot any more.
        """
        outgoing, everybody = encode_message(notice), self._roster.of(*notice.route.receiver)
        receivers = [one for one in everybody if not one.pooled and (not is_for or is_for(one))]
        if prepare_extras and any(self._line(entry).session.reads_extras for entry in receivers):
            outgoing = replace(outgoing, get_extras=cache(prepare_extras()))
        return {
            one.agent_id: self._outbox(one.agent_id).put(
                instead.get(one.agent_id, outgoing), urgency, replaces
            )
            for one in receivers
        }

    def tell_one(self, agent_id: str, notice: Notice) -> None:
        """Queue *notice*, which belongs to a match, for one agent."""
        self._outbox(agent_id).put(encode_message(notice), Urgency.GAME)

    def _outbox(self, agent_id: str) -> Outbox:
        outbox = self._outboxes.get(agent_id)
        if outbox is None:
            send, batches = partial(self._send, agent_id), self._roster[agent_id].compact
            outbox = self._outboxes[agent_id] = Outbox(send, sends_batches=batches)
        return outbox

    async def drain(self, within: float) -> None:
        """Wait until all notices are delivered, but not longer than *within*."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await asyncio.gather(*(box.wait_until_empty() for box in self._outboxes.values()))

    def close(self) -> None:
        """Send nothing more; who has not taken a notice by now is not to blame."""
        self._is_closed = True
        for outbox in self._outboxes.values():
            outbox.close()

    def _send(self, agent_id: str, messages: Sequence[QueuedMessage]) -> None:
        """Send notices; each leaves when the agent has taken it, or will not."""
        if len(messages) > 1:
            self._send_batch(agent_id, messages)
            return
        (message,) = messages
        entry, started = self._roster[agent_id], None
        if entry.state not in AWAY:
            started = self._line(entry).start(self._sign(entry, message.outgoing))
        if started is None:
            self._spawn(self._send_in_task(entry, message))
        else:
            finish = partial(self._finish, entry, message, started)
            started.answer.add_done_callback(finish)

    def _finish(
        self,
        entry: Entry,
        message: QueuedMessage,
        started: StartedCall,
        answer: "asyncio.Future[Answer]",
    ) -> None:
        if self._line(entry).is_taken(started) or self._is_closed:
            message.leave()
        else:
            self._spawn(self._send_in_task(entry, message, started))

    def _send_batch(self, agent_id: str, messages: Sequence[QueuedMessage]) -> None:
        entry, started = self._roster[agent_id], None
        line = self._line(entry)
        if entry.compact and entry.state not in AWAY:
            signed = [self._sign(entry, message.outgoing) for message in messages]
            started = line.start_batch(signed)
        if started is None:
            self._spawn(self._send_one_by_one(entry, messages))
        else:
            finish = partial(self._finish_batch, line, entry, messages, started)
            started.answer.add_done_callback(finish)

    def _finish_batch(
        self,
        line: Line,
        entry: Entry,
        messages: Sequence[QueuedMessage],
        started: StartedBatch,
        answer: "asyncio.Future[Answer]",
    ) -> None:
        if line.is_batch_taken(started) or self._is_closed:
            for message in messages:
                message.leave()
        else:
            self._spawn(self._send_one_by_one(entry, messages))

    async def _send_one_by_one(self, entry: Entry, messages: Sequence[QueuedMessage]) -> None:
        for message in messages:
            await self._send_in_task(entry, message)

    async def _send_in_task(
        self, entry: Entry, message: QueuedMessage, started: StartedCall | None = None
    ) -> None:
        outgoing, ledger = message.outgoing, self._discipline.open_ledger(entry)
        try:
            if entry.state in AWAY:  # it may listen all the same; if not, that has no consequences
                await self._line(entry).send(self._sign(entry, outgoing), started=started)
            else:
                await self._deliver(entry, outgoing, ledger, started)
        except NoAnswerError as error:
            if entry.state not in AWAY:
                self._complain(entry, outgoing.kind, error)
                self._liveness.note_untaken_notice(entry)
        finally:
            if ledger.deviations:
                self._discipline.note(entry.agent_id, ledger.deviations.values())
            message.leave()

    def _sign(self, entry: Entry, outgoing: Outgoing) -> Outgoing:
        """Add a proof if the agent acts on the notice, or takes none without."""
        if outgoing.kind in ACTED_ON or entry.agent_id in self._wants_token:
            return sign_notice(outgoing, self._league_id, self._keys_of(entry))
        return outgoing

    async def _deliver(
        self, entry: Entry, outgoing: Outgoing, ledger: Ledger, started: StartedCall | None
    ) -> None:
        """Send a notice, and once more with a token if the agent asks for one."""
        signed = started.outgoing if started else self._sign(entry, outgoing)
        try:
            await self._line(entry).send(signed, ledger=ledger, started=started)
        except RefusedError as error:
            if not error.wants_token or entry.agent_id in self._wants_token:
                raise
            self._wants_token.add(entry.agent_id)
            await self._line(entry).send(self._sign(entry, outgoing), ledger=ledger)

    def _complain(self, entry: Entry, kind: type[Message], error: NoAnswerError) -> None:
        """Say once that an agent does not take its notices; nobody asks a referee to take them."""
        if error.retryable and not isinstance(error, RefusedError):
            log.warning("%s did not take a notice: %s", entry.agent_id, error)
        elif entry.role is not Role.REFEREE and entry.agent_id not in self._complained:
            self._complained.add(entry.agent_id)
            why = make_printable(" ".join(str(error).split())[:160])
            log.warning(
                "%s does not take %s: %s; fix: let it answer the call %s with a result",
                *(entry.agent_id, name(kind), why, kind.route.tool),
            )
