"""What can be wrong with a file that a person wrote."""

from collections.abc import Iterable
from difflib import get_close_matches

from agent_league.protocol import LeagueError


class ConfigError(LeagueError):
    """A file does not say what it must; the sentence names the file, the key and the remedy."""

    def __init__(
        self, problem: str, *, file: object, key: str = "", expected: str | None = None
    ) -> None:
        super().__init__(": ".join(str(part) for part in (file, key, problem) if part))
        self.file = str(file)
        self.key = key
        self.expected = expected


class UnsafeIdError(LeagueError, ValueError):
    """An id cannot be the name of a file."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that ends in the known names, and begins with the one that was meant."""
    names = list(known)
    close = get_close_matches(name, names, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"{meant}known: {', '.join(names) or 'none'}"
