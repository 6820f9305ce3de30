"""What is remembered: the events of a season, in order, and nothing that follows from them."""

from agent_league.store.events import Event
from agent_league.store.log import EventLog, Stored, StoreError
from agent_league.store.memory import MemoryLog

__all__ = ["Event", "EventLog", "MemoryLog", "StoreError", "Stored"]
