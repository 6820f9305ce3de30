"""What a player does: from decisions to messages."""

from agent_league.agent import Agent
from agent_league.protocol.play import (
    GameMoveCall,
    GameMoveReply,
    Invitation,
    JoinAck,
    ParityCall,
    ParityReply,
)
from agent_league.vocabulary import Json


def take_seat(player: Agent, invitation: Invitation, *, accept: bool) -> JoinAck:
    stamp = player.stamp(invitation.conversation_id)
    return JoinAck(
        **stamp,
        auth_token=invitation.auth_token,
        match_id=invitation.match_id,
        player_id=player.name,
        arrival_timestamp=stamp["timestamp"],
        accept=accept,
    )


def make_move(
    player: Agent, call: ParityCall | GameMoveCall, move: Json
) -> ParityReply | GameMoveReply:
    """Return *move* as the call wants it answered.

    The ticket goes back as it came: a player's own token is for the league alone.
    """
    kind = ParityReply if isinstance(call, ParityCall) else GameMoveReply
    return kind(
        **player.stamp(call.conversation_id),
        auth_token=call.auth_token,
        match_id=call.match_id,
        player_id=player.name,
        move=move,
    )
