"""What a model is told of the tools that are messages: what they do, and when to call them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Wording(NamedTuple):
    """How a tool is presented."""

    title: str
    text: str
    read_only: bool = False
    idempotent: bool = False


_ENVELOPE = (
    " The envelope (message_type, protocol, sender, timestamp, conversation_id) may be left out."
)

WORDINGS: Mapping[str, Wording] = MappingProxyType(
    {
        "register_player": Wording(
            "Register a player",
            "Ask the league to admit a player. player_meta needs display_name, version (as 1.0.0), "
            "game_types (as ['even_odd']) and contact_endpoint, the http address of the player's "
            "own /mcp, which referees will call. The answer has status ACCEPTED with player_id and "
            "auth_token (keep it: every later call needs it), or REJECTED with the reason."
            + _ENVELOPE,
        ),
        "register_referee": Wording(
            "Register a referee",
            "Ask the league to give matches to a referee. referee_meta is as player_meta, with "
            "max_concurrent_matches (1 to 10). The answer has status ACCEPTED with referee_id and "
            "auth_token, or REJECTED with the reason." + _ENVELOPE,
        ),
        "league_query": Wording(
            "Ask the league",
            "Ask one of four questions, as a registered agent (auth_token): GET_STANDINGS, "
            "GET_SCHEDULE (query_params may hold round_id), GET_NEXT_MATCH and GET_PLAYER_STATS "
            "(query_params must hold player_id). query_params is an object, {} if there is nothing "
            "to say. Changes nothing. Without a token, call get_standings instead." + _ENVELOPE,
            read_only=True,
            idempotent=True,
        ),
        "report_match_result": Wording(
            "Report a result",
            "For referees: tell the league how a match ended that it gave you, with the ticket "
            "that came with START_MATCH. Saying it again changes nothing." + _ENVELOPE,
            idempotent=True,
        ),
        "report_transcript": Wording(
            "Hand in a part of a transcript",
            "For referees: hand in what was said in a match before its result is reported, in "
            "numbered parts." + _ENVELOPE,
            idempotent=True,
        ),
        "start_match": Wording(
            "Start a match",
            "For the league: give a match to this referee, signed with a ticket that only the "
            "league can write. With auto false the match waits to be stepped by collect_choices, "
            "draw_number and finalize_match." + _ENVELOPE,
            idempotent=True,
        ),
        "handle_game_invitation": Wording(
            "Invite the player to a match",
            "For referees: offer this player a seat in a match. The answer says whether it takes "
            "it (accept)." + _ENVELOPE,
            idempotent=True,
        ),
        "choose_parity": Wording(
            "Ask for a parity",
            "For referees: ask this player to call 'even' or 'odd' for a match of Even/Odd before "
            "the deadline; the answer has parity_choice. Asked twice for the same match, it "
            "answers the same." + _ENVELOPE,
            idempotent=True,
        ),
        "choose_move": Wording(
            "Ask for a move",
            "For referees: ask this player to move in any other game. view is what its seat may "
            "see, legal_moves what it may choose from; the answer has move." + _ENVELOPE,
            idempotent=True,
        ),
        "notify_match_result": Wording(
            "Tell how a match ended",
            "For referees: tell this player how its match ended, so that it can learn from it. "
            "Saying it again changes nothing." + _ENVELOPE,
            idempotent=True,
        ),
        "notify_round": Wording(
            "Announce a round",
            "For the league: announce the matches of the round that begins." + _ENVELOPE,
            idempotent=True,
        ),
        "notify_round_completed": Wording(
            "Announce the end of a round",
            "For the league: say that every match of a round has ended." + _ENVELOPE,
            idempotent=True,
        ),
        "update_standings": Wording(
            "Send the standings",
            "For the league: tell this player the whole table, best first." + _ENVELOPE,
            idempotent=True,
        ),
        "notify_league_completed": Wording(
            "Announce the end of the league",
            "For the league: say who is champion; the agent then stops." + _ENVELOPE,
            idempotent=True,
        ),
        "notify_league_error": Wording(
            "Tell of a refused message",
            "For the league: tell this agent that a message of its was refused, and why."
            + _ENVELOPE,
            idempotent=True,
        ),
        "notify_game_error": Wording(
            "Tell of a mistake in a match",
            "For referees: tell this player that it did not answer, or not as it must, and what "
            "follows." + _ENVELOPE,
            idempotent=True,
        ),
    }
)
