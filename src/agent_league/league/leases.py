"""How long each match may take: one timer for all of them."""

from collections.abc import Callable

from agent_league.own_time import Deadline, own_clock, own_time


class Leases:
    """Calls *expire* with each match that has not ended in its time, on our own clock."""

    def __init__(self, expire: Callable[[str], None]) -> None:
        self._expire = expire
        self._ends: dict[str, float] = {}
        self._deadline: Deadline | None = None

    def begin(self, match_id: str, seconds: float) -> None:
        """Give a match so many seconds from now on."""
        self._deadline = self._deadline or Deadline(self._check)
        if not self._ends:
            own_clock().begin_wait()
        self._ends[match_id] = own_time() + seconds
        if len(self._ends) == 1:
            self._deadline.set(self._ends[match_id])

    def end(self, match_id: str) -> None:
        """Forget a match; it may be forgotten already."""
        if self._ends.pop(match_id, None) is not None and not self._ends:
            own_clock().end_wait()

    def close(self) -> None:
        """Expect nothing any more: the timer would keep all of its league in memory."""
        for match_id in tuple(self._ends):
            self.end(match_id)
        if self._deadline is not None:
            self._deadline.cancel()

    def _check(self) -> None:
        now = own_time()
        late = [match_id for match_id, ends in self._ends.items() if ends <= now]
        for match_id in late:
            self.end(match_id)
            self._expire(match_id)
        if self._ends and self._deadline is not None:
            self._deadline.set(min(self._ends.values()))
