"""`league schema`: the published contract."""

import json
from typing import Literal

from agent_league.cli.endings import UsageError
from agent_league.protocol.contracts import DOCUMENTS
from agent_league.protocol.schema import schemas

Format = Literal["jsonschema", "openrpc", "openapi"]


def schema(
    message: str | None = None,
    /,
    *,
    format: Format = "jsonschema",  # noqa: A002 - the flag's name
) -> None:
    """Print the contract: the JSON Schema of every message, or of one, or the calls, or the HTTP.

    Parameters
    ----------
    message
        The name of one message, such as GAME_INVITATION.
    format
        jsonschema: each message; openrpc: the calls; openapi: the endpoint.
    """
    if message is None:
        print(json.dumps(DOCUMENTS[format](), indent=2))
        return
    if format != "jsonschema":
        raise UsageError(f"{format} is one document", f"league schema --format {format}")
    known = schemas()
    if message.upper() not in known:
        raise UsageError(f"there is no message {message!r}", f"one of {', '.join(known)}")
    print(json.dumps(known[message.upper()], indent=2))
