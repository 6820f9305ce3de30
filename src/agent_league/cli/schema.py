"""`league schema`: the published contract."""

import json

from agent_league.cli.endings import UsageError
from agent_league.protocol.schema import schemas


def schema(message: str | None = None, /) -> None:
    """Print the JSON Schema of every message, or of one.

    Parameters
    ----------
    message
        The name of one message, such as GAME_INVITATION.
    """
    known = schemas()
    if message is None:
        print(json.dumps(known, indent=2))
    elif message.upper() in known:
        print(json.dumps(known[message.upper()], indent=2))
    else:
        raise UsageError(f"there is no message {message!r}", f"one of {', '.join(known)}")
