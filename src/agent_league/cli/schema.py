"""`league schema`: the published contract."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from agent_league.cli.endings import UsageError
from agent_league.cli.terms import Version
from agent_league.dialects.v1_schema import schemas_v1
from agent_league.protocol.contracts import DOCUMENTS
from agent_league.protocol.schema import schemas

Format = Literal["jsonschema", "openrpc", "openapi"]

SCHEMAS: Mapping[Version, Callable[[], dict[str, dict[str, Any]]]] = {
    "league.v2": schemas,
    "league.v1": schemas_v1,
}


def schema(
    message: str | None = None,
    /,
    *,
    format: Format = "jsonschema",  # noqa: A002 - the flag's name
    protocol: Version = "league.v2",
) -> None:
    """Print the contract: the JSON Schema of every message, or of one, or the calls, or the HTTP.

    Parameters
    ----------
    message
        The name of one message, such as GAME_INVITATION.
    format
        jsonschema: each message; openrpc: the calls; openapi: the endpoint.
    protocol
        The version: league.v2, or league.v1 in draft-07, with what all its messages share as BASE.
    """
    if format != "jsonschema":
        return _document(format, message, protocol)
    known = SCHEMAS[protocol]()
    if message is None:
        return print(json.dumps(known, indent=2))
    if message.upper() not in known:
        raise UsageError(f"there is no message {message!r}", f"one of {', '.join(known)}")
    return print(json.dumps(known[message.upper()], indent=2))


def _document(format: Format, message: str | None, protocol: Version) -> None:  # noqa: A002 - as above
    if message is not None:
        raise UsageError(f"{format} is one document", f"league schema --format {format}")
    if protocol != "league.v2":
        hint = f"league schema --protocol {protocol}"
        raise UsageError(f"{protocol} is published as JSON Schema only", hint)
    print(json.dumps(DOCUMENTS[format](), indent=2))
