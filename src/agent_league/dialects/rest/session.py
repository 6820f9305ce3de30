"""Registration at a league that has a path for it instead of a message.

Nothing else is sent to such a league: it calls its agents, and they answer.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

import msgspec

from agent_league.dialects.dialect import Dialect, Outgoing, PeerSession
from agent_league.dialects.v2 import replies
from agent_league.http.exchange import Post
from agent_league.own_time import own_time
from agent_league.protocol import Message, Role
from agent_league.protocol.deviations import NO_LEDGER, Ledger
from agent_league.protocol.failures import NonsenseError, NoPathError
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.vocabulary import Json

REST: Final = "rest"
PATHS = (
    "/register",
    "/register/{role}",
    "/register_{role}",
    "/{role}s/register",
    "/api/register",
    "/api/v1/register",
    "/api/v1/{role}s/register",
)
"""Where leagues take registrations, the most usual first."""
_ROLES: Mapping[type[Message], Role] = {
    RegisterPlayer: Role.PLAYER,
    RegisterReferee: Role.REFEREE,
}
_ID_FIELDS: Mapping[Role, str] = {Role.PLAYER: "player_id", Role.REFEREE: "referee_id"}
_NUMBERED = re.compile(r"(P|REF|R)\d+", re.IGNORECASE)
_encode = msgspec.json.Encoder().encode


class RestSession(PeerSession):
    """Registers at the league that has its messages, if any, at *url*."""

    dialect = REST

    def __init__(self, url: str, post: Post) -> None:
        parts = urlsplit(url)
        self._base, self._post = f"{parts.scheme}://{parts.netloc}", post
        self._paths: Sequence[str] = PATHS

    interpret_reply = staticmethod(replies.interpret_result)

    async def send(self, outgoing: Outgoing, within: float, ledger: Ledger = NO_LEDGER) -> bytes:
        """Return the answer to a registration at the first path that takes one."""
        role = _ROLES.get(outgoing.kind)
        if role is None:
            raise NoPathError(f"{self._base} takes registrations only")
        application, ends = flatten(msgspec.json.decode(outgoing.body), role), own_time() + within
        for path in self._paths:
            left = ends - own_time()
            where = self._base + path.format(role=role)
            answer = await self._post(where, _encode(application), left)
            try:
                content = replies.parse_answer(answer.body)
                replies.check_status(answer.status, content)
            except (NoPathError, NonsenseError):
                continue
            self._paths = (path,)
            return _encode(read_admission(content, application, role))
        raise NoPathError(f"{self._base} takes no registrations: neither at /mcp nor at /register")


def flatten(request: Mapping[str, Json], role: Role) -> dict[str, Json]:
    """Return a registration with everything that it says at the top, under the usual names."""
    meta = request[f"{role}_meta"]
    agent_id = str(request["sender"]).rpartition(":")[2]
    return {
        **request,
        **meta,
        "name": meta["display_name"],
        "endpoint": meta["contact_endpoint"],
        "url": meta["contact_endpoint"],
        "supported_game_types": meta["game_types"],
        "agent_type": str(role),
        "role": str(role),
        "agent_id": agent_id,
        _ID_FIELDS[role]: agent_id,
    }


def read_admission(content: Json, application: Mapping[str, Json], role: Role) -> dict[str, Json]:
    """Return what a league answers to a registration, with an id, as the protocol writes it.

    A league that gives a player no id in the usual form calls it by the name that it gave.
    """
    fields = content if isinstance(content, dict) else {}
    inner = fields.get("result", fields)
    admission = dict(inner) if isinstance(inner, dict) else {}
    key = _ID_FIELDS[role]
    given = str(admission.pop("agent_id", ""))
    own = application["display_name" if role is Role.PLAYER else key]
    return {"status": "ACCEPTED", key: given if _NUMBERED.fullmatch(given) else own, **admission}


dialect = Dialect(
    name=REST,
    make_reader=None,
    connect=lambda peer, wire, clock: RestSession(peer.url, wire.post),
    schemas=dict,
)
