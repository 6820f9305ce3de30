"""The word with which an agent is let in: ACCEPTED, and for some who go on asking, REGISTERED."""

from typing import Final, NamedTuple

ACCEPTED: Final = "ACCEPTED"
REGISTERED: Final = "REGISTERED"
INSISTENT, SOON = 4, 30.0
"""After how many registrations in a row, each so many seconds after the last, we try the other."""


class _Asked(NamedTuple):
    times: int
    at: float
    word: str


class Welcome:
    """Remembers how often each endpoint asked; whoever is content with a word stops asking."""

    def __init__(self) -> None:
        self._asked: dict[str, _Asked] = {}

    def word(self, endpoint: str, now: float) -> str:
        """Return what to say to *endpoint*, which has just been admitted."""
        last = self._asked.get(endpoint)
        if last is None or now - last.at > SOON:
            word, times = last.word if last else ACCEPTED, 1
        else:
            times = last.times + 1
            other = REGISTERED if last.word == ACCEPTED else ACCEPTED
            word = other if times >= INSISTENT else last.word
        self._asked[endpoint] = _Asked(times, now, word)
        return word
