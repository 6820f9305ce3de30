"""`ConfigLoader`, where document 001 has it."""

from agent_league.files import ConfigError, ConfigLoader

__all__ = ["ConfigError", "ConfigLoader"]
