"""Answers to agents that do not write as the protocol asks: the same in the words that they read."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from agent_league.dialects.dialect import Spread
from agent_league.dialects.v2.words import Body
from agent_league.protocol import Acknowledgement, Message
from agent_league.protocol.message import Result
from agent_league.protocol.play import JoinAck, MoveReply
from agent_league.protocol.registration import (
    RegisterPlayer,
    RegisterReferee,
)
from agent_league.protocol.tokens import is_ticket
from agent_league.vocabulary import Json

PLAIN_LEAGUE: Final = "league_manager:LM01"
"""The league as 001 names it, for agents that expect an id in every sender."""
_SYNONYMS: Mapping[str, str] = {
    "message_type": "type",
    "accept": "accepted",
    "parity_choice": "choice",
    "match_id": "game_id",
}
_ECHOED = ("game_id", "invitation_id")


def write_in_other_words(
    request: Message, sent: Body, encode: Callable[[Result], Result], result: Result
) -> Result:
    """Return *result* with the words that other implementations look for beside ours.

    A caller without a ticket also finds the fields of a reply beside `result`.
    """
    answer = encode(result)
    if isinstance(request, (RegisterPlayer, RegisterReferee)):
        return _write_registration(answer)
    if not isinstance(result, (JoinAck, MoveReply, Acknowledgement)):
        return answer
    fields = _to_object(answer)
    synonyms = {word: fields[key] for key, word in _SYNONYMS.items() if key in fields}
    echoed = {key: sent[key] for key in _ECHOED if key in sent}
    words = {**fields, "ok": True, **synonyms, **echoed}
    is_reply = isinstance(result, (JoinAck, MoveReply))
    return Spread(words) if is_reply and not is_ticket(request.auth_token) else words


def _write_registration(answer: Result) -> Result:
    fields = _to_object(answer)
    return {**fields, "sender": PLAIN_LEAGUE} if "sender" in fields else answer


def _to_object(result: Result) -> dict[str, Json]:
    fields: dict[str, Json] = msgspec.to_builtins(result)
    return fields
