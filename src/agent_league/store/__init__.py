"""What is kept: the events of a season in order, and nothing that is derived from them."""

from agent_league.store.errors import DeposedError, NotLeadingError, StoreError
from agent_league.store.events import Event
from agent_league.store.log import EventLog, StoredEvent

__all__ = [
    "DeposedError",
    "Event",
    "EventLog",
    "NotLeadingError",
    "StoreError",
    "StoredEvent",
]
