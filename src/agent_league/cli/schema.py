"""`league schema`: the published contract."""

from typing import Annotated, Literal

from cyclopts import Parameter

from agent_league.cli import league_options as flags
from agent_league.cli.console import print_json
from agent_league.dialects import DIALECTS
from agent_league.protocol.contracts import DOCUMENTS
from agent_league.running.errors import UsageError

Format = Literal["jsonschema", "openrpc", "openapi"]

_VERSION_HELP = "league.v2, or league.v1 in draft-07, with what all its messages share as BASE."


def schema(
    message: str | None = None,
    /,
    *,
    format: Format = "jsonschema",  # noqa: A002 - the flag's name
    protocol: Annotated[flags.Protocol, Parameter(help=_VERSION_HELP)] = "league.v2",
) -> None:
    """Print the contract: the JSON Schema of every message, or of one, or the calls, or the HTTP.

    Parameters
    ----------
    message
        The name of one message, such as GAME_INVITATION.
    format
        jsonschema: each message; openrpc: the calls; openapi: the endpoint.
    """
    if format == "jsonschema":
        by_name = DIALECTS[protocol].schemas()
        if message is None:
            return print_json(by_name)
        if message.upper() not in by_name:
            raise UsageError(f"there is no message {message!r}", f"one of {', '.join(by_name)}")
        return print_json(by_name[message.upper()])
    if message is not None:
        raise UsageError(f"{format} is one document", f"league schema --format {format}")
    if protocol != "league.v2":
        hint = f"league schema --protocol {protocol}"
        raise UsageError(f"{protocol} is published as JSON Schema only", hint)
    return print_json(DOCUMENTS[format]())
