"""An event log in memory, for tests that look at its events."""

from collections.abc import Iterator

from agent_league.store.events import Event
from agent_league.store.log import EventLog


class MemoryLog(EventLog):
    """Keeps its events in memory, where they can be looked at again."""

    def __init__(self) -> None:
        super().__init__()
        self._events: list[Event] = []
        self.listen(self._events.append)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)
