"""Words with which third-party agents say yes or no, and name a round."""

import re
from collections.abc import Mapping
from typing import TypeAlias

from agent_league.vocabulary import Json

Body: TypeAlias = dict[str, Json]


def read_round(value: Json) -> int | None:
    """Return the number of a round, also from a text such as `R1` or `ROUND_1`; None if unclear."""
    if type(value) is int:
        return value if value > 0 else None
    match = re.fullmatch(r"(?:R|ROUND)?[ _-]?0*([1-9][0-9]{0,8})", str(value).strip().upper())
    return int(match[1]) if match else None


def guess_round(match_id: str) -> int:
    """Return the round of a match such as `R2M1`, and 1 for a match with another name."""
    match = re.match(r"R([1-9][0-9]{0,8})M", match_id)
    return int(match[1]) if match else 1


_YES = {"ACCEPTED", "ACCEPT", "JOINED", "READY", "CONFIRMED"}
_NO = {"REJECTED", "REJECT", "DECLINED", "DECLINE", "REFUSED"}


def read_acceptance(body: Mapping[str, Json]) -> bool | None:
    """Return whether *body* accepts, if it says so without the field `accept`; else None."""
    for key in ("accepted", "success", "joined"):
        if isinstance(body.get(key), bool):
            return bool(body[key])
    status = body.get("status")
    word = status.upper() if isinstance(status, str) else ""
    return True if word in _YES else False if word in _NO else None
