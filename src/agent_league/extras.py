"""Libraries that are not installed with the package: each belongs to an extra of it."""

import importlib
from typing import Any

from agent_league.protocol import LeagueError


class MissingExtraError(LeagueError):
    """A library is not installed; *hint* says how it is."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"this takes the library {library}, which is not installed")
        self.hint = f"pip install 'agent-league[{extra}]'"


def import_extra(module: str, extra: str) -> Any:
    """Return *module*, or raise `MissingExtraError` with the *extra* that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(module.partition(".")[0], extra) from error
