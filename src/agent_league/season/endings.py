"""How matches ended, one character each: short enough to keep those of all rounds in memory."""

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import TypeAlias, get_args

from agent_league.protocol.results import Status
from agent_league.store.events import MatchEnded, ScheduledMatch

Ending: TypeAlias = tuple[str, str | None]
"""What the schedule shows of a match: its status, and who won."""

VOIDED = "VOIDED"
"""The status of a match whose result the organiser voided."""
_KINDS = (("SCHEDULED", 0), *product(get_args(Status), range(3)))
"""How a match can end: its status, and who won: 0 is nobody, 1 the first player, 2 the second."""
_KIND_OF_CODE = {str(number): kind for number, kind in enumerate(_KINDS)}
_CODE_OF_KIND = {kind: code for code, kind in _KIND_OF_CODE.items()}
UNPLAYED = _CODE_OF_KIND["SCHEDULED", 0]


def parse_match_id(match_id: str) -> tuple[int, int] | None:
    """Return the round of a match, and its number in the round."""
    found = re.fullmatch(r"R([1-9][0-9]{0,8})M([1-9][0-9]{0,8})", match_id)
    return (int(found[1]), int(found[2])) if found else None


def encode_endings(matches: Iterable[ScheduledMatch], results: Mapping[str, MatchEnded]) -> str:
    """Return one character for each of *matches*."""
    codes = []
    for match in matches:
        ended = results.get(match.match_id)
        winner = (None, match.first, match.second).index(ended.winner) if ended else 0
        codes.append(_CODE_OF_KIND[ended.status if ended else "SCHEDULED", winner])
    return "".join(codes)


def decode_endings(matches: Iterable[ScheduledMatch], codes: str) -> list[Ending]:
    """Return how *matches* ended, from one character each in *codes*."""
    kinds = zip(matches, map(_KIND_OF_CODE.__getitem__, codes), strict=True)
    return [(status, (None, m.first, m.second)[winner]) for m, (status, winner) in kinds]
