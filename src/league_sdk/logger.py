"""`JsonLogger`, where document 001 has it."""

from agent_league.files import JsonLogger, JsonLogHandler

__all__ = ["JsonLogHandler", "JsonLogger"]
