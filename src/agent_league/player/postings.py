"""Replies that a player posts: some referees do not read the answer to their calls."""

from collections.abc import Iterable

from agent_league.dialects.dialect import encode_message
from agent_league.member import Member
from agent_league.player.memory import remember
from agent_league.protocol import Message, jsonrpc, name
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.rounds import AnnouncedMatch, RoundAnnouncement


class ReplyPoster:
    """Posts each reply once to a referee that deviates, if the league has said where it listens.

    The reply repeats what the referee has shown; no token of the player is in it.
    """

    def __init__(self, member: Member) -> None:
        self._member = member
        self._endpoints: dict[str, str] = {}
        """Where the referee of each announced match listens."""
        self._deviating: dict[str, None] = {}
        """The matches whose referee does not write as the protocol asks."""
        self._posted: dict[tuple[str, type[Message], str | None], None] = {}

    def note_announcement(self, notice: RoundAnnouncement, own: Iterable[AnnouncedMatch]) -> None:
        """Remember who referees the *own* matches, unless somebody else may have said it."""
        member = self._member
        proof = name(RoundAnnouncement), notice.league_id
        if member.league_signs and not member.is_signed(notice.auth_token, *proof):
            return
        for match in own:
            if match.match_id not in self._endpoints:
                remember(self._endpoints, match.match_id, match.referee_endpoint)

    def note_deviation(self, message: Message) -> None:
        """Remember that *message* did not come as the protocol asks."""
        if message.match_id:
            remember(self._deviating, message.match_id, None)

    def post(self, reply: Message) -> None:
        """Post *reply* in the background, if its referee may not read the answer to its call."""
        match_id = reply.match_id
        if match_id is None or match_id not in self._deviating:
            return
        # A match that is played again has the same id, and another ticket.
        url, key = self._endpoints.get(match_id), (match_id, type(reply), reply.auth_token)
        if url is None or key in self._posted:
            return
        remember(self._posted, key, None)
        self._member.spawn(self._send(url, reply))

    async def _send(self, url: str, reply: Message) -> None:
        member, kind = self._member, name(type(reply))
        body = jsonrpc.encode_call(kind, encode_message(reply).body, 1)
        try:
            await member.peers.wire.post(url, body, member.patience.generic)
        except NoAnswerError as error:
            member.agent_log.note("NOT_POSTED", to=url, message=kind, error=str(error))
