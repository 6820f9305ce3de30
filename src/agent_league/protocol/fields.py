"""The kinds of field that messages are made of, each with its rule and the code for breaking it."""

import re
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Meta

from agent_league.protocol.errors import ErrorCode

VERSION: Final = "league.v2"
SPOKEN, OLDEST_SPOKEN = "2.1.0", "2.0.0"


def _rule(expected: str, code: ErrorCode = ErrorCode.INVALID_FIELD_VALUE) -> dict[str, str]:
    return {"code": code, "expected": expected}


ProtocolVersion: TypeAlias = Annotated[
    Literal["league.v2"],
    Meta(extra=_rule('"league.v2"', ErrorCode.PROTOCOL_VERSION_MISMATCH)),
]

# A `$` alone would let a line break pass at the end, and \d the digits of other scripts.
END = r"$(?!\n)"


def _date(dash: str) -> str:
    """Return the pattern of every day that the calendar has."""
    long = rf"(0[13578]|1[02]){dash}(0[1-9]|[12][0-9]|3[01])"
    short = rf"(0[469]|11){dash}(0[1-9]|[12][0-9]|30)"
    february = rf"02{dash}(0[1-9]|1[0-9]|2[0-8])"
    leap_year = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
    return rf"([0-9]{{4}}{dash}({long}|{short}|{february})|{leap_year}{dash}02{dash}29)"


_TIME_OF_DAY = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|\+00:00)"
UTC_PATTERN = rf"^(?!0000)({_date('-')}|{_date('')})T{_TIME_OF_DAY}{END}"
UtcTime: TypeAlias = Annotated[
    str,
    Meta(
        pattern=UTC_PATTERN,
        extra=_rule("ISO-8601 in UTC, as 2025-01-15T10:30:00Z", ErrorCode.INVALID_TIMESTAMP),
    ),
]

Sender: TypeAlias = Annotated[
    str,
    Meta(
        pattern=rf"^(league_manager(:.+)?|(referee|player):.+){END}",
        max_length=120,
        extra=_rule('"player:ID", "referee:ID" or "league_manager"'),
    ),
]

Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200, extra=_rule("text"))]
Sentence: TypeAlias = Annotated[str, Meta(max_length=2000, extra=_rule("a sentence"))]

# Control characters, and those that turn the direction of writing, forge what a reader sees.
_FORGING = "\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
DisplayName: TypeAlias = Annotated[
    str,
    Meta(
        pattern=rf"^ *(?=\S)[^{_FORGING}]{{1,50}}? *{END}",
        max_length=200,
        extra=_rule("1 to 50 visible characters, none of them control characters"),
    ),
]

_NUMBERS = r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})"
SEMANTIC = re.compile(rf"^{_NUMBERS}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?{END}")
SemanticVersion: TypeAlias = Annotated[
    str,
    Meta(
        pattern=SEMANTIC.pattern,
        max_length=64,
        extra=_rule("a semantic version, as 1.0.0"),
    ),
]

GameTypes: TypeAlias = Annotated[
    list[Text], Meta(min_length=1, max_length=50, extra=_rule("at least one game"))
]

Integer: TypeAlias = Annotated[
    int, Meta(ge=-(2**31), le=2**31 - 1, extra=_rule("a 32-bit integer"))
]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**31 - 1, extra=_rule("an integer from 0"))]
Ordinal: TypeAlias = Annotated[int, Meta(ge=1, le=2**31 - 1, extra=_rule("an integer from 1"))]
Capacity: TypeAlias = Annotated[int, Meta(ge=1, le=10, extra=_rule("an integer from 1 to 10"))]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=86400, extra=_rule("seconds"))]

Parity: TypeAlias = Annotated[
    Literal["even", "odd"],
    Meta(extra=_rule('"even" or "odd"', ErrorCode.INVALID_PARITY_CHOICE)),
]


def moment(written: str) -> datetime:
    """Return the moment that a `UtcTime` names."""
    return datetime.fromisoformat(written)


def newer_or_same(version: str, oldest: str) -> bool:
    """Whether *version* is at least *oldest*, by the numbers of semantic versioning."""
    return _numbers(version) >= _numbers(oldest)


def _numbers(version: str) -> tuple[int, ...]:
    found = SEMANTIC.match(version)
    return tuple(int(part) for part in found.groups()[:3]) if found else (0,)


def endpoint_problem(endpoint: str) -> str | None:
    """Say why no message can be sent to *endpoint*, or None if one can be tried."""
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError as error:
        return f"{error}".lower()
    if parts.scheme not in {"http", "https"}:
        return "it must begin with http:// or https://"
    if not parts.hostname or port == 0:
        return "it names no host that can be reached"
    if parts.username or parts.password or parts.fragment:
        return "it must not hold a user name, a password or a fragment"
    return None
