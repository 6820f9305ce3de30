"""The referees: who is free for a match, and the matches of those that ask instead of taking orders."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from agent_league.agent import log
from agent_league.league.context import Context
from agent_league.protocol import Role
from agent_league.season.assignment import POLICIES, Load, choose, plan
from agent_league.season.roster import ACTIVE
from agent_league.store.events import AgentRecovered
from agent_league.vocabulary import Json

_NOBODY: AbstractSet[str] = frozenset()


class RefereePool:
    """Counts the matches of each referee."""

    def __init__(self, context: Context) -> None:
        self._roster = context.season.roster
        self._policy = POLICIES[context.season.settings.assignment]
        self._running: dict[str, set[str]] = defaultdict(set)
        self._assigned_counts: dict[str, int] = defaultdict(int)
        self._resting: set[str] = set()
        self._demoted: set[str] = set()
        """The referees that did not report a match: they get one only if no other is there."""
        self._failed: dict[str, set[str]] = defaultdict(set)
        """The referees that ended a match without a result, by match: others try it first."""
        self._is_missing = False
        """Whether it was said that there is no referee."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when a referee may be free; set by whoever has matches for them."""
        context.events.when_kept(AgentRecovered, lambda event: self.wake())

    def take(self, match_id: str, preferred: str | None = None) -> str | None:
        """Return a referee for *match_id*, *preferred* if that one is free; None if all are busy."""
        referee_id = self._choose(match_id, preferred)
        if referee_id is None:
            self._warn_if_missing()
            return None
        self._is_missing = False
        self._running[referee_id].add(match_id)
        self._assigned_counts[referee_id] += 1
        return referee_id

    def _choose(self, match_id: str, preferred: str | None) -> str | None:
        """Return the referee for a match; None if all are busy."""
        avoided = self._failed.get(match_id, _NOBODY)
        if preferred is not None and self._is_free(preferred, avoided):
            return preferred
        loads = self._loads(avoided)
        first = (load for load in loads if load.referee_id == preferred and load.free > 0)
        load = next(first, None) or choose(self._policy, loads)
        return load.referee_id if load else None

    def _is_free(self, referee_id: str, avoided: AbstractSet[str]) -> bool:
        """Whether a referee may get a match without a look at the others."""
        entry = self._roster[referee_id]
        is_first_choice = referee_id not in avoided and referee_id not in self._demoted
        may_play = entry.state is ACTIVE and referee_id not in self._resting
        return is_first_choice and may_play and len(self._running[referee_id]) < entry.capacity

    def _warn_if_missing(self) -> None:
        """Say, once, that no match can be played because no referee is left."""
        referees = self._roster.of(Role.REFEREE)
        if self._is_missing or any(entry.state is ACTIVE for entry in referees):
            return
        self._is_missing = True
        log.warning(
            "no referee takes matches: the league waits until one comes back or joins "
            "(hint: league referee --league URL starts one)"
        )

    def release(self, referee_id: str, match_id: str) -> None:
        self._running[referee_id].discard(match_id)
        self.on_change()

    def rest(self, referee_id: str, seconds: float) -> None:
        """Give no matches to a referee for a while, because it refused one."""
        self._resting.add(referee_id)
        asyncio.get_running_loop().call_later(seconds, self._end_rest, referee_id)

    def demote(self, referee_id: str) -> None:
        """Give matches to a referee only if no other is there, until `restore`."""
        self._demoted.add(referee_id)

    def restore(self, referee_id: str) -> None:
        self._demoted.discard(referee_id)

    def avoid(self, referee_id: str, match_id: str) -> None:
        """Give *match_id* to another referee, if there is one."""
        self._failed[match_id].add(referee_id)

    def wake(self) -> None:
        """Look for a free referee again: one has come, or come back."""
        self.on_change()

    def plan_referees(self, matches: int) -> Sequence[str]:
        """Return the referees of the next *matches* matches, provided that none fails."""
        return plan(self._policy, self._loads(), matches)

    def _end_rest(self, referee_id: str) -> None:
        self._resting.discard(referee_id)
        self.on_change()

    def _loads(self, avoided: AbstractSet[str] = frozenset()) -> list[Load]:
        """Return the referees that may get a match; *avoided* ones only if there is no other."""
        active = [e for e in self._roster.of(Role.REFEREE) if e.state is ACTIVE]
        for second_choice in (avoided, self._demoted):
            if second_choice:
                active = [e for e in active if e.agent_id not in second_choice] or active
        return [
            Load(entry.agent_id, len(self._running[entry.agent_id]), entry.capacity, given)
            for entry in active
            if entry.agent_id not in self._resting
            for given in [self._assigned_counts[entry.agent_id]]
        ]


class PullQueue:
    """One queue for each referee that takes no orders but asks; a match is handed out once."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, Json]] = {}
        self._poll_seen: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def __contains__(self, referee_id: str) -> bool:
        return referee_id in self._waiting

    def note_poll(self, referee_id: str) -> None:
        """Record that a referee asks for its matches; it gets some once it has taken no order."""
        self._poll_seen[referee_id].set()

    async def wait_for_poll(self, referee_id: str, within: float) -> bool:
        """Wait until a referee has asked for its matches; False if it does not."""
        try:
            async with asyncio.timeout(within):
                await self._poll_seen[referee_id].wait()
        except TimeoutError:
            return False
        return True

    def put(self, referee_id: str, match_id: str, order: Json) -> None:
        self._waiting.setdefault(referee_id, {})[match_id] = order

    def take_next(self, referee_id: str, still_wanted: AbstractSet[str]) -> Json:
        """Return the next order for a referee, or None; drop matches that are not *still_wanted*."""
        queue = self._waiting.get(referee_id, {})
        while queue:
            match_id = next(iter(queue))
            order = queue.pop(match_id)
            if match_id in still_wanted:
                return order
        return None
