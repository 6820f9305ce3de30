"""The way to an MCP server over HTTP: headers, sessions, answers that are streams of events."""

import base64
import re
from functools import partial

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_league.mcp.client import MODERN, Outgoing, SessionLostError
from agent_league.protocol.jsonrpc import Id
from agent_league.transport import NonsenseError, UnreachableError
from agent_league.transport.exchange import Exchange, Heard, Parcel

_VISIBLE = re.compile(r"[!-~]{1,1024}")
_SAFE = re.compile(r"(?!=\?base64\?)[!-~]([ -~]*[!-~])?")
_OK, _BAD_REQUEST, _NOT_FOUND = 200, 400, 404
_SESSION = "mcp-session-id"


class HttpCarrier:
    """Posts to the server at *url*, and remembers the session that it opens."""

    def __init__(self, url: str, exchange: Exchange) -> None:
        self.name = url
        self._exchange = exchange
        self._session: str | None = None

    def forget(self) -> None:
        self._session = None

    async def send(self, said: Outgoing, within: float) -> bytes:
        parcel = Parcel(said.body(), self._headers(said), partial(_answers, said.number))
        heard = await self._exchange(self.name, parcel, within)
        if said.method == "initialize":
            self._session = self._opened(heard)
        if said.number is None:
            return b""
        if self._session is not None and _forgotten(heard):
            raise SessionLostError(f"{self.name} has forgotten our session")
        return self._answered(heard)

    def _headers(self, said: Outgoing) -> dict[str, str]:
        headers = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        }
        if said.version is not None:
            headers["mcp-protocol-version"] = said.version
        if said.version == MODERN:
            headers["mcp-method"] = said.method
            if said.method == "tools/call":
                headers["mcp-name"] = _header_value(str(said.params["name"]))
            for token, value in said.mirrored.items():
                headers[f"mcp-param-{token}"] = _header_value(value)
        elif self._session is not None and said.version is not None:
            headers[_SESSION] = self._session
        return headers

    def _opened(self, heard: Heard) -> str | None:
        session = heard.headers.get(_SESSION)
        if session is not None and not _VISIBLE.fullmatch(session):
            raise NonsenseError(f"{self.name} opened a session without a usable name")
        return session

    def _answered(self, heard: Heard) -> bytes:
        if heard.body:
            return heard.body
        if heard.status == _OK:
            raise UnreachableError(f"{self.name} ended its answer before it was given")
        raise NonsenseError(f"{self.name} answered HTTP {heard.status} and nothing else")


class _Head(Struct):
    id: Id | UnsetType = UNSET
    method: str | UnsetType = UNSET


_head = msgspec.json.Decoder(_Head)


def _answers(number: int | None, event: bytes) -> bool:
    """Whether *event* answers request *number*: streams tell other things too."""
    try:
        head = _head.decode(event)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return head.method is UNSET and head.id == number


def _forgotten(heard: Heard) -> bool:
    # Servers are told to answer 404; some older ones answer 400 and speak of the session.
    said = heard.status == _BAD_REQUEST and b"session" in heard.body.lower()
    return said or heard.status == _NOT_FOUND


def _header_value(text: str) -> str:
    """Return *text* as MCP writes it in a header, where not every letter may stand."""
    if _SAFE.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode('ascii')}?="
