"""Virtual time, and what is shared in it: processors and lines that serve one thing after another."""

import heapq
from collections.abc import Callable
from itertools import count


class Agenda:
    """What happens when; `run` lets it happen, in order, without waiting."""

    def __init__(self) -> None:
        self.now = 0.0
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def at(self, time: float, action: Callable[[], None]) -> None:
        """Let *action* happen at *time*, after everything that was planned for then before."""
        heapq.heappush(self._entries, (max(time, self.now), next(self._numbers), action))

    def run(self, is_over: Callable[[], bool]) -> None:
        """Let everything happen until nothing is left, or *is_over* says so."""
        while self._entries and not is_over():
            self.now, _, action = heapq.heappop(self._entries)
            action()


class Server:
    """Serves one request after another: a process on its core, a line to the network."""

    def __init__(self) -> None:
        self.free_at = 0.0
        self.busy_s = 0.0

    def serve(self, now: float, seconds: float) -> float:
        """Return when work of so many *seconds* that comes *now* is done."""
        self.free_at = max(now, self.free_at) + seconds
        self.busy_s += seconds
        return self.free_at


class Host:
    """Cores that several processes share; each process uses one of them at a time."""

    def __init__(self, cores: int) -> None:
        self._cores = [0.0] * max(1, cores)
        self.cores = len(self._cores)
        self.busy_s = 0.0

    def serve(self, process: Server, now: float, seconds: float) -> float:
        """Return when *process* has done work that comes *now*, on the core that is free first."""
        start = max(now, process.free_at, self._cores[0])
        done = process.serve(start, seconds)
        heapq.heapreplace(self._cores, done)
        self.busy_s += seconds
        return done
