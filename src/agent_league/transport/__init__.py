"""How a message gets there. The only package that knows HTTP exists."""

from agent_league.transport.failures import (
    Failure,
    LateError,
    NoAnswerError,
    NonsenseError,
    PromisedError,
    RefusedError,
    ToolsChangedError,
    UnreachableError,
)

__all__ = [
    "Failure",
    "LateError",
    "NoAnswerError",
    "NonsenseError",
    "PromisedError",
    "RefusedError",
    "ToolsChangedError",
    "UnreachableError",
]
