"""The strategy of a player, loaded by its name or from a file."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb

from agent_league.protocol import LeagueError
from agent_league.strategy import STRATEGIES, Strategy, instantiate

MODEL = "llm"
"""The strategy of a player that asks a language model: `llm`, or `llm:` and the name of the model."""

PYDANTIC_AI = "pydantic_ai"
"""The same by way of pydantic-ai, for providers with a protocol of their own: `pydantic_ai:MODEL`."""


@dataclass(frozen=True)
class Brain:
    """A strategy, and whether we trust it to answer at once and never to fail."""

    strategy: Strategy
    name: str
    trusted: bool = False


class NoSuchStrategyError(LeagueError):
    """No strategy has that name, or the file does not hold one."""


def describe_failure(error: BaseException) -> str:
    """Return what a file of the user raised, and at which of its lines."""
    frames = [frame for frame in extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    if not frames:
        return repr(error)
    file = frames[0].filename  # what it calls may be deep in other files
    line = [frame.lineno for frame in frames if frame.filename == file][-1]
    return f"{error!r} at {Path(file).name}:{line}"


def _is_ours(file: str) -> bool:
    return Path(__file__).parents[1] in Path(file).parents or file.startswith("<frozen ")


def load_brain(name: str) -> Brain:
    """Return the strategy called *name*; a name that ends in .py is a file."""
    if name.endswith(".py"):
        return _load_file(Path(name))
    kind, _, model = name.partition(":")
    if kind == MODEL:
        from agent_league.llm import LlmMind, read_endpoint  # noqa: PLC0415 - few players have one

        return Brain(LlmMind(read_endpoint(model)), name)
    if kind == PYDANTIC_AI and model:
        from agent_league.llm.pydantic_ai_mind import PydanticAiMind  # noqa: PLC0415 - the same

        return Brain(PydanticAiMind(model), name)
    if name not in STRATEGIES:
        raise NoSuchStrategyError(f"there is no strategy {name!r}; known: {', '.join(STRATEGIES)}")
    strategy = STRATEGIES[name]
    is_ours = strategy.__module__.startswith("agent_league.strategies.")
    return Brain(instantiate(strategy), name, trusted=is_ours)


def _load_file(path: Path) -> Brain:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise NoSuchStrategyError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a file of the user may raise anything
        raise NoSuchStrategyError(f"{path} cannot be loaded: {describe_failure(error)}") from error
    strategy = getattr(module, "strategy", None)
    if not callable(strategy):
        raise NoSuchStrategyError(f"{path} has no function called 'strategy'")
    return Brain(instantiate(strategy), path.stem)
