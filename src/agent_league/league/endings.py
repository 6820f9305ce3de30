"""How the matches of a closed round ended, a letter each: what stays at hand of the long past."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TypeAlias, get_args

from agent_league.protocol.play import Status
from agent_league.store.events import MatchEnded, ScheduledMatch

Ending: TypeAlias = tuple[str, str | None]
"""What the schedule tells of a match: its status, and who won."""

VOIDED = "VOIDED"
"""The status of a match whose result the organiser took back."""
_NOBODY, _FIRST, _SECOND = range(3)
_KINDS = (("SCHEDULED", _NOBODY), *product(get_args(Status), (_NOBODY, _FIRST, _SECOND)))
_KIND_OF = {str(number): kind for number, kind in enumerate(_KINDS)}
_LETTER_OF = {kind: letter for letter, kind in _KIND_OF.items()}


def letters(matches: Iterable[ScheduledMatch], results: Mapping[str, MatchEnded]) -> str:
    """Return a letter for each of *matches*."""
    return "".join(_letter(match, results.get(match.match_id)) for match in matches)


def endings(matches: Iterable[ScheduledMatch], known: str) -> list[Ending]:
    """Return what the letters in *known* say of *matches*."""
    kinds = zip(matches, map(_KIND_OF.__getitem__, known), strict=True)
    return [(status, (None, m.first, m.second)[winner]) for m, (status, winner) in kinds]


def _letter(match: ScheduledMatch, ended: MatchEnded | None) -> str:
    if ended is None:
        return _LETTER_OF["SCHEDULED", _NOBODY]
    winner = (None, match.first, match.second).index(ended.winner)
    return _LETTER_OF[ended.status, winner]
