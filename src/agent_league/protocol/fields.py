"""The types of the fields of messages, each with its rule and the error code for breaking it."""

import re
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Address, ip_address
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Meta

from agent_league.printable import CONTROL_CHARACTERS
from agent_league.protocol.errors import ErrorCode

UNSTATED: Final = "unstated"
"""Stands in a message for what its sender left out."""
VERSION: Final = "league.v2"
LOOPBACK: Final = "127.0.0.1"
SUPPORTED_VERSION, OLDEST_SUPPORTED_VERSION = "2.1.0", "2.0.0"


def rule(expected: str, code: ErrorCode = ErrorCode.INVALID_FIELD_VALUE) -> dict[str, str]:
    return {"code": code, "expected": expected}


ProtocolVersion: TypeAlias = Annotated[
    Literal["league.v2"], Meta(extra=rule('"league.v2"', ErrorCode.PROTOCOL_VERSION_MISMATCH))
]

# `$` alone accepts a line break at the end, and \d accepts the digits of other scripts.
END = r"$(?!\n)"


def _date_pattern(dash: str) -> str:
    """Return the pattern of the days that the calendar has."""
    long = rf"(0[13578]|1[02]){dash}(0[1-9]|[12][0-9]|3[01])"
    short = rf"(0[469]|11){dash}(0[1-9]|[12][0-9]|30)"
    february = rf"02{dash}(0[1-9]|1[0-9]|2[0-8])"
    leap_year = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
    return rf"([0-9]{{4}}{dash}({long}|{short}|{february})|{leap_year}{dash}02{dash}29)"


_TIME_OF_DAY = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|\+00:00)"
UTC_PATTERN = rf"^(?!0000)({_date_pattern('-')}|{_date_pattern('')})T{_TIME_OF_DAY}{END}"
_UTC_RULE = rule("ISO-8601 in UTC, as 2025-01-15T10:30:00Z", ErrorCode.INVALID_TIMESTAMP)
UtcTime: TypeAlias = Annotated[str, Meta(pattern=UTC_PATTERN, extra=_UTC_RULE)]

SENDER_PATTERN = rf"^(league_manager(:.+)?|(referee|player):.+){END}"
_SENDER_RULE = rule('"player:ID", "referee:ID" or "league_manager"')
Sender: TypeAlias = Annotated[str, Meta(pattern=SENDER_PATTERN, max_length=120, extra=_SENDER_RULE)]

# Most messages have these two, and the same values come again and again: to look whether a value is
# known takes a tenth of the time of its pattern, so `__post_init__` of a message does that first.
FrequentTime: TypeAlias = Annotated[
    str,
    Meta(max_length=40, extra_json_schema={"pattern": UTC_PATTERN}, extra=_UTC_RULE),
]
EnvelopeSender: TypeAlias = Annotated[
    str,
    Meta(max_length=120, extra_json_schema={"pattern": SENDER_PATTERN}, extra=_SENDER_RULE),
]
_utc_time, _sender = re.compile(UTC_PATTERN), re.compile(SENDER_PATTERN)
KNOWN_TIMES: set[str] = set()
KNOWN_SENDERS: set[str] = set()
MOST_KNOWN = 4096


def is_utc_time(text: str) -> bool:
    return _match(text, _utc_time, KNOWN_TIMES)


def is_sender(text: str) -> bool:
    return _match(text, _sender, KNOWN_SENDERS)


def _match(text: str, pattern: re.Pattern[str], known: set[str]) -> bool:
    """Whether *text* matches *pattern*; if so, it is *known* from now on."""
    is_right = pattern.search(text) is not None
    if is_right:
        if len(known) >= MOST_KNOWN:
            known.clear()
        known.add(text)
    return is_right


LONGEST_TEXT = 200
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_TEXT, extra=rule("text"))]
Sentence: TypeAlias = Annotated[str, Meta(max_length=2000, extra=rule("a sentence"))]

# Control characters, and those that change the direction of writing, can deceive a reader.
DisplayName: TypeAlias = Annotated[
    str,
    Meta(
        pattern=rf"^ *(?=\S)[^{CONTROL_CHARACTERS}]{{1,50}}? *{END}",
        max_length=200,
        extra=rule("1 to 50 visible characters, none of them control characters"),
    ),
]

_NUMBERS = r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})"
SEMANTIC_VERSION_PATTERN = re.compile(rf"^{_NUMBERS}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?{END}")
SemanticVersion: TypeAlias = Annotated[
    str,
    Meta(
        pattern=SEMANTIC_VERSION_PATTERN.pattern,
        max_length=64,
        extra=rule("a semantic version, as 1.0.0"),
    ),
]

Nonce: TypeAlias = Annotated[
    str,
    Meta(pattern=rf"^[0-9A-Za-z_-]{{1,64}}{END}", extra=rule("1 to 64 letters, digits, - and _")),
]

GameTypes: TypeAlias = Annotated[
    list[Text], Meta(min_length=1, max_length=50, extra=rule("at least one game"))
]

Integer: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1, extra=rule("a 32-bit integer"))]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**31 - 1, extra=rule("an integer from 0"))]
Ordinal: TypeAlias = Annotated[int, Meta(ge=1, le=2**31 - 1, extra=rule("an integer from 1"))]
Capacity: TypeAlias = Annotated[int, Meta(ge=1, le=10, extra=rule("an integer from 1 to 10"))]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=86400, extra=rule("seconds"))]

_PARITY_RULE = rule('"even" or "odd"', ErrorCode.INVALID_PARITY_CHOICE)
Parity: TypeAlias = Annotated[
    Literal["even", "odd"], Meta(extra={**_PARITY_RULE, "valid_choices": ["even", "odd"]})
]


@lru_cache(maxsize=1024)  # tokens expire at the same moments, and deadlines are whole seconds
def parse_time(text: str) -> datetime:
    """Return the moment of a `UtcTime`."""
    return datetime.fromisoformat(text)


def is_at_least(version: str, oldest: str) -> bool:
    """Whether *version* is at least *oldest*, by the numbers of semantic versioning."""
    return _numbers(version) >= _numbers(oldest)


def _numbers(version: str) -> tuple[int, ...]:
    match = SEMANTIC_VERSION_PATTERN.match(version)
    return tuple(int(part) for part in match.groups()[:3]) if match else (0,)


def find_endpoint_problem(endpoint: str) -> str | None:
    """Return why no message can be sent to *endpoint*, or None if it can be tried."""
    if re.search(rf"[\s{CONTROL_CHARACTERS}]", endpoint):  # urlsplit drops some of them
        return "it must not hold spaces or control characters"
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


def normalise_endpoint(endpoint: str) -> str:
    """Return the one spelling of all endpoints that lead to the same place, as far as one can see.

    `localhost`, `127.0.0.1` and `[::1]` are one host; capitals, leading zeros of the port, the
    default port and a slash at the end make no difference.
    """
    try:
        parts = urlsplit(endpoint)
        port = parts.port or {"https": 443}.get(parts.scheme, 80)
    except ValueError:
        return endpoint
    host, path = _normalise_host(parts.hostname or ""), parts.path.rstrip("/")
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{host}:{port}{path}{query}"


def _normalise_host(host: str) -> str:
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return LOOPBACK
    try:
        address = ip_address(name) if ":" in name else _read_ipv4(name)
    except ValueError:
        return name
    address = getattr(address, "ipv4_mapped", None) or address
    return LOOPBACK if address.is_loopback or address.is_unspecified else str(address)


def _read_ipv4(name: str) -> IPv4Address:
    """Return an address, which may be abbreviated as `127.1` or `2130706433`, or raise `ValueError`."""
    *leading, last = (int(part, 0) for part in name.split("."))
    return IPv4Address(last + sum(part << 24 - 8 * place for place, part in enumerate(leading)))
