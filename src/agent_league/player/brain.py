"""A player's strategy, by its name or from somebody's own file."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from agent_league.protocol import LeagueError
from agent_league.strategy import STRATEGIES, Strategy


@dataclass(frozen=True)
class Brain:
    """A strategy, and whether it may be trusted to answer at once and without fail."""

    strategy: Strategy
    name: str
    trusted: bool = False


class NoSuchStrategyError(LeagueError):
    """Nothing goes by that name, or the file does not hold a strategy."""


def load_brain(name: str) -> Brain:
    """Return the strategy called *name*; a name that ends in .py is a file."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    if name not in STRATEGIES:
        raise NoSuchStrategyError(f"there is no strategy {name!r}; known: {', '.join(STRATEGIES)}")
    return Brain(STRATEGIES[name], name, trusted=_is_ours(name))


def _is_ours(name: str) -> bool:
    return STRATEGIES[name].__module__.startswith("agent_league.strategies.")


def _from_file(path: Path) -> Brain:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise NoSuchStrategyError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a stranger's file may raise anything
        raise NoSuchStrategyError(f"{path} cannot be loaded: {error!r}") from error
    strategy = getattr(module, "strategy", None)
    if not callable(strategy):
        raise NoSuchStrategyError(f"{path} has no function called 'strategy'")
    return Brain(strategy, path.stem)
