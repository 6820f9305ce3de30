"""The actuators of a player: make replies of its decisions.

They name the fields of the envelope: to merge the dict that `Agent.envelope` returns takes as long as
all the rest.
"""

from agent_league.agent import Agent
from agent_league.player.sensors import MoveCall
from agent_league.protocol import play
from agent_league.protocol.fields import VERSION
from agent_league.vocabulary import Json


def take_seat(player: Agent, invitation: play.Invitation, *, accept: bool) -> play.JoinAck:
    now = player.now()
    return play.JoinAck(
        protocol=VERSION,
        sender=player.sender,
        timestamp=now,
        conversation_id=invitation.conversation_id,
        auth_token=invitation.auth_token,
        match_id=invitation.match_id,
        player_id=player.name,
        arrival_timestamp=now,
        accept=accept,
    )


def make_move(player: Agent, call: MoveCall, move: Json) -> play.MoveReply:
    """Return the reply to *call* that makes *move*.

    The reply has the ticket of the call: only the league may see the player's own token.
    """
    kind = play.ParityReply if isinstance(call, play.ParityCall) else play.GameMoveReply
    return kind(
        protocol=VERSION,
        sender=player.sender,
        timestamp=player.now(),
        conversation_id=call.conversation_id,
        auth_token=call.auth_token,
        match_id=call.match_id,
        player_id=player.name,
        move=move,
    )
