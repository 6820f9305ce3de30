"""Where the players of a match listen, if the order does not say: what else may tell it."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from agent_league.member import Member
from agent_league.protocol import ErrorCode, ProtocolError, jsonrpc
from agent_league.protocol.addresses import find_endpoints
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.play import Contestant, StartMatch
from agent_league.protocol.rounds import RoundAnnouncement

FIRST_PLAYER_PORT = 8100
"""001: player P01 listens at port 8101, P02 at 8102, and so on."""
LOOK_PATIENCE = 2.0
"""Seconds for each place where an address is looked up."""
_QUERIES = ("GET_PLAYERS", "GET_REGISTRATIONS")
_PAGES = ("/agents", "/players")
Source: TypeAlias = Callable[[str], Awaitable[str | None]]
"""Returns the endpoint of a player, or None if it does not know it."""


class AddressBook:
    """Finds players: in announcements, at the league, in a file, and at the ports of 001."""

    def __init__(
        self, member: Member, configured: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._member = member
        self._known: dict[str, str] = {}
        """What announcements and the league have told."""
        self._configured = configured
        self._has_asked = False
        self._warned: set[str] = set()

    def note_announcement(self, notice: RoundAnnouncement) -> None:
        """Remember the endpoints in an announcement, if it has some."""
        for match in notice.matches:
            for player_id, endpoint in (
                (match.player_A_id, match.player_A_endpoint),
                (match.player_B_id, match.player_B_endpoint),
            ):
                if endpoint is not None:
                    self._known[player_id] = endpoint

    async def complete(self, order: StartMatch) -> StartMatch:
        """Return *order* with the endpoints of both players, or raise `ProtocolError`."""
        if all(player.endpoint != UNSTATED for player in order.players):
            return order
        return replace(order, players=[await self._complete(player) for player in order.players])

    async def _complete(self, player: Contestant) -> Contestant:
        if player.endpoint != UNSTATED:
            return player
        sources: Sequence[Source] = (self._recall, self._ask_league, self._look_up, self._guess)
        for find in sources:
            endpoint = await find(player.player_id)
            if endpoint is not None:
                self._known[player.player_id] = endpoint
                return replace(player, endpoint=endpoint)
        raise self._refuse(player.player_id)

    def _refuse(self, player_id: str) -> ProtocolError:
        detail = f"players: nobody says where {player_id} listens"
        if player_id not in self._warned:
            self._warned.add(player_id)
            hint = "hint: --shared FOLDER with config/agents/agents_config.json of that league"
            text = f"cannot play with {player_id}: the order does not say where it listens ({hint})"
            self._member.agent_log.warn("NO_ENDPOINT", text)
        return ProtocolError(ErrorCode.MISSING_REQUIRED_FIELD, detail, field="players")

    async def _recall(self, player_id: str) -> str | None:
        return self._known.get(player_id)

    async def _look_up(self, player_id: str) -> str | None:
        return self._configured.get(player_id)

    async def _ask_league(self, player_id: str) -> str | None:
        """Ask the league for its players, once: few leagues answer that."""
        if not self._has_asked:
            self._has_asked = True
            for ask in (self._query, self._read_pages):
                for agent_id, endpoint in (await ask()).items():
                    self._known.setdefault(agent_id, endpoint)
        return self._known.get(player_id)

    async def _query(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for query_type in _QUERIES:
            body = {
                **self._member.envelope(f"conv-{self._member.name.lower()}-players"),
                "message_type": "LEAGUE_QUERY",
                "auth_token": self._member.token,
                "league_id": self._member.league_id,
                "query_type": query_type,
                "query_params": {},
            }
            frame = jsonrpc.encode_call("league_query", msgspec.json.encode(body), 1)
            wire, url = self._member.peers.wire, self._member.league_url
            found |= await _read_endpoints(wire.post(url, frame, LOOK_PATIENCE))
        return found

    async def _read_pages(self) -> dict[str, str]:
        base = self._member.league_url.removesuffix("/").removesuffix("/mcp")
        found: dict[str, str] = {}
        for page in _PAGES:
            found |= await _read_endpoints(self._member.peers.wire.get(base + page, LOOK_PATIENCE))
        return found

    async def _guess(self, player_id: str) -> str | None:
        """Return the endpoint that 001 gives to a player with this id, if something listens there."""
        endpoint = guess_endpoint(player_id, self._member.league_url)
        if endpoint and await self._member.peers.wire.listens(endpoint, LOOK_PATIENCE):
            return endpoint
        return None


def guess_endpoint(player_id: str, league_url: str) -> str | None:
    """Return where 001 has a player listen, on the host of its league; None if its id is another."""
    number = re.fullmatch(r"P0*([1-9][0-9]{0,2})", player_id)
    host = urlsplit(league_url).hostname or ""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{FIRST_PLAYER_PORT + int(number[1])}/mcp" if number and name else None


async def _read_endpoints(asking: Awaitable[object]) -> dict[str, str]:
    """Return the endpoints in the answer to *asking*; none if it has none."""
    try:
        answer = await asking
        return find_endpoints(msgspec.json.decode(getattr(answer, "body", b"")))
    except (NoAnswerError, msgspec.DecodeError):
        return {}
