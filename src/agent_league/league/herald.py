"""What everybody is told: each agent has its own queue, so that a slow one delays nobody."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agent_league.agent import Agent, log
from agent_league.league.acquaintance import line_to
from agent_league.league.discipline import Discipline
from agent_league.league.roster import AWAY, Entry, Roster
from agent_league.protocol import Notice
from agent_league.transport import NoAnswerError
from agent_league.transport.line import Letter, sealed
from agent_league.transport.outbox import Outbox, Urgency


class Herald:
    """Sends notices to the members of a league."""

    def __init__(
        self,
        manager: Agent,
        roster: Roster,
        failed: Callable[[Entry], None],
        discipline: Discipline,
    ) -> None:
        self._manager = manager
        self._roster = roster
        self._discipline = discipline
        self._failed = failed
        self._outboxes: dict[str, Outbox] = {}

    def tell(
        self,
        notice: Notice,
        urgency: Urgency = Urgency.NEWS,
        replaces: str | None = None,
        aside: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """Queue *notice* for everybody of the roles it is meant for.

        *aside* tells what other dialects say with it.
        """
        letter = sealed(notice)._replace(aside=aside)
        for entry in self._roster.of(*notice.route.receiver):
            if entry.state not in AWAY:
                self._outbox(entry.agent_id).put(letter, urgency, replaces)

    async def drained(self, within: float) -> None:
        """Wait until everybody has taken everything, but not longer than *within*."""
        waiting = [asyncio.ensure_future(box.drained()) for box in self._outboxes.values()]
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=within)
            for task in late:
                task.cancel()

    def close(self) -> None:
        for outbox in self._outboxes.values():
            outbox.close()

    def _outbox(self, agent_id: str) -> Outbox:
        if agent_id not in self._outboxes:
            self._outboxes[agent_id] = Outbox(partial(self._send, agent_id))
        return self._outboxes[agent_id]

    async def _send(self, agent_id: str, letter: Letter) -> None:
        entry = self._roster[agent_id]
        if entry.state in AWAY:
            return
        ledger = self._discipline.ledger(entry)
        try:
            await line_to(self._manager, entry).deliver(letter, ledger=ledger)
        except NoAnswerError as error:
            log.warning("%s did not take a notice: %s", entry.agent_id, error)
            self._failed(entry)
        self._discipline.account(ledger)
