"""`league schema`: the published contract."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from agent_league.cli.endings import UsageError
from agent_league.cli.terms import Version
from agent_league.dialects.v1_schema import schemas_v1
from agent_league.protocol.schema import schemas

SCHEMAS: Mapping[Version, Callable[[], dict[str, dict[str, Any]]]] = {
    "league.v2": schemas,
    "league.v1": schemas_v1,
}


def schema(message: str | None = None, /, *, protocol: Version = "league.v2") -> None:
    """Print the JSON Schema of every message, or of one.

    Parameters
    ----------
    message
        The name of one message, such as GAME_INVITATION.
    protocol
        The version: league.v2, or league.v1 in draft-07, with what all its messages share as BASE.
    """
    known = SCHEMAS[protocol]()
    if message is None:
        print(json.dumps(known, indent=2))
    elif message.upper() in known:
        print(json.dumps(known[message.upper()], indent=2))
    else:
        raise UsageError(f"there is no message {message!r}", f"one of {', '.join(known)}")
