"""HTTP headers that a person gives on the command line, often to prove who calls."""

import re
from collections.abc import Iterable

from agent_league.protocol import ErrorCode
from agent_league.protocol.failures import NoAnswerError
from agent_league.running.errors import UsageError

HEADER_HINT = "write it as --header 'Authorization: Bearer ...'"
_HEADER = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([ -~]*)")
_OURS = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection"})


def explain_refusal(error: NoAnswerError) -> UsageError | None:
    """Return what to tell a person whose headers an MCP server has refused."""
    if error.code is ErrorCode.AUTH_TOKEN_MISSING:
        return UsageError(str(error), HEADER_HINT)
    return None


def parse_headers(lines: Iterable[str]) -> dict[str, str]:
    """Return the headers in *lines* by name, in lower case; an error never shows their values."""
    headers: dict[str, str] = {}
    for line in lines:
        found = _HEADER.fullmatch(line.strip())
        if found is None:
            raise UsageError("a header is a name, a colon and a value", HEADER_HINT)
        name, value = found[1].lower(), found[2].strip()
        if name in _OURS:
            raise UsageError(f"the header {name} is set by the program itself", "leave it out")
        headers[name] = value
    return headers
