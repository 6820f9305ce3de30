"""The actuators of a player: make replies of its decisions."""

from agent_league.agent import Agent
from agent_league.player.sensors import MoveCall
from agent_league.protocol import play
from agent_league.vocabulary import Json


def take_seat(player: Agent, invitation: play.Invitation, *, accept: bool) -> play.JoinAck:
    envelope = player.envelope(invitation.conversation_id)
    return play.JoinAck(
        **envelope,
        auth_token=invitation.auth_token,
        match_id=invitation.match_id,
        player_id=player.name,
        arrival_timestamp=envelope["timestamp"],
        accept=accept,
    )


def make_move(player: Agent, call: MoveCall, move: Json) -> play.MoveReply:
    """Return the reply to *call* that makes *move*.

    The reply has the ticket of the call: only the league may see the player's own token.
    """
    kind = play.ParityReply if isinstance(call, play.ParityCall) else play.GameMoveReply
    return kind(
        **player.envelope(call.conversation_id),
        auth_token=call.auth_token,
        match_id=call.match_id,
        player_id=player.name,
        move=move,
    )
