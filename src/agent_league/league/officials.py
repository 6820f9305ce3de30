"""The referees at work: who has room, who rests, and the wait for the next free one."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from agent_league.league.assignment import POLICIES, Load, choose, plan
from agent_league.league.roster import Entry, Lifecycle, Roster
from agent_league.protocol import Role


class Officials:
    """Keeps count of what each referee runs; one caller at a time waits for a free one."""

    def __init__(self, roster: Roster, policy: str) -> None:
        self._roster = roster
        self._policy = POLICIES[policy]
        self._running: dict[str, set[str]] = defaultdict(set)
        self._given: dict[str, int] = defaultdict(int)
        self._resting: set[str] = set()
        self._room = asyncio.Event()

    async def take(self, match_id: str, preferred: str | None = None) -> Entry:
        """Return a referee for *match_id*, as soon as one has room."""
        while True:
            loads = self._loads()
            wished = [load for load in loads if load.referee_id == preferred and load.free > 0]
            load = wished[0] if wished else choose(self._policy, loads)
            if load is not None:
                self._running[load.referee_id].add(match_id)
                self._given[load.referee_id] += 1
                return self._roster[load.referee_id]
            self._room.clear()
            await self._room.wait()

    def release(self, referee_id: str, match_id: str) -> None:
        self._running[referee_id].discard(match_id)
        self._room.set()

    def rest(self, referee_id: str, seconds: float) -> None:
        """Leave a referee that refused a match alone for a while."""
        self._resting.add(referee_id)
        asyncio.get_running_loop().call_later(seconds, self._rested, referee_id)

    def look_again(self) -> None:
        """Reconsider everybody: somebody came, or came back."""
        self._room.set()

    def matches_of(self, referee_id: str) -> set[str]:
        return set(self._running[referee_id])

    def planned(self, matches: int) -> Sequence[str]:
        """Return whom the matches of a round will go to, as long as nobody fails."""
        return plan(self._policy, self._loads(), matches)

    def _rested(self, referee_id: str) -> None:
        self._resting.discard(referee_id)
        self._room.set()

    def _loads(self) -> list[Load]:
        return [
            Load(entry.agent_id, len(self._running[entry.agent_id]), entry.capacity, given)
            for entry in self._roster.of(Role.REFEREE)
            if entry.state is Lifecycle.ACTIVE and entry.agent_id not in self._resting
            for given in [self._given[entry.agent_id]]
        ]
