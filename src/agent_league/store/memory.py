"""A log that lives as long as its process."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from agent_league.store.events import Event

Listener: TypeAlias = Callable[[Event], None]


class MemoryLog:
    """Events in the order in which they happened; listeners hear each one once it is kept."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._once: set[str] = set()
        self._listeners: list[Listener] = []

    async def append(self, event: Event) -> bool:
        """Keep *event* and tell the listeners; False if it had already happened."""
        if event.once is not None:
            if event.once in self._once:
                return False
            self._once.add(event.once)
        self._events.append(event)
        for listener in self._listeners:
            listener(event)
        return True

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def __len__(self) -> int:
        return len(self._events)
