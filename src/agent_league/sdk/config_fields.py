"""The kinds of value that configuration files are made of, and the rules between them."""

from collections.abc import Iterable
from typing import Annotated, TypeAlias

from msgspec import Meta

from agent_league.protocol.fields import END, endpoint_problem
from agent_league.sdk.errors import did_you_mean
from agent_league.sdk.layout import SAFE_ID, SAFE_ID_RULE
from agent_league.sdk.reading import broken
from agent_league.vocabulary import Json


def rule(expected: str) -> dict[str, str]:
    return {"expected": expected}


SchemaVersion: TypeAlias = Annotated[
    str, Meta(pattern=rf"^1\.[0-9]{{1,9}}\.[0-9]{{1,9}}{END}", extra=rule('"1.0.0"'))
]
Id: TypeAlias = Annotated[str, Meta(pattern=SAFE_ID, extra=rule(SAFE_ID_RULE))]
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200, extra=rule("text"))]
Port: TypeAlias = Annotated[int, Meta(ge=1, le=65535, extra=rule("a port from 1 to 65535"))]
PortRange: TypeAlias = Annotated[
    tuple[Port, Port], Meta(extra=rule("two ports, the lower one first"))
]
Wait: TypeAlias = Annotated[
    float, Meta(gt=0, le=86400, extra=rule("seconds, more than 0 and at most 86400"))
]
Delay: TypeAlias = Annotated[float, Meta(ge=0, le=86400, extra=rule("seconds, from 0 to 86400"))]
Hours: TypeAlias = Annotated[
    float, Meta(gt=0, le=8760, extra=rule("hours, more than 0 and at most 8760"))
]
Points: TypeAlias = Annotated[int, Meta(ge=0, le=1000, extra=rule("a whole number from 0 to 1000"))]
Attempts: TypeAlias = Annotated[int, Meta(ge=1, le=10, extra=rule("a whole number from 1 to 10"))]
GameTypes: TypeAlias = Annotated[
    tuple[Text, ...], Meta(min_length=1, extra=rule("a list of at least one game"))
]
Options: TypeAlias = Annotated[dict[str, Json], Meta(extra=rule("an object"))]
Size: TypeAlias = Annotated[
    int, Meta(ge=2, le=10_000, extra=rule("a whole number from 2 to 10000"))
]


def check_endpoint(key: str, endpoint: str) -> None:
    problem = endpoint_problem(endpoint)
    if problem is not None:
        raise broken(key, f"an address as http://localhost:8101/mcp ({problem})", endpoint)


def check_known(key: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        raise broken(key, f"another name ({did_you_mean(name, names)})", name)


def check_distinct(key: str, what: str, values: Iterable[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise broken(key, f"a different {what} for each", value)
        seen.add(value)
