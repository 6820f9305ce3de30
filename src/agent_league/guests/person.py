"""A guest that is a person: asked for each move by a form of the client (elicitation)."""

from collections.abc import Mapping
from contextlib import suppress

import msgspec

from agent_league.guests.forms import YourTurn
from agent_league.guests.guest import Guest
from agent_league.mcp.tools import InputNeededError
from agent_league.protocol import ProtocolError
from agent_league.vocabulary import Json


def asked(turn: YourTurn) -> InputNeededError:
    """Return the form for a turn; it names nothing that another player has written."""
    match_id, game = turn.request["match_id"], turn.request["game_type"]
    view = turn.request.get("view")
    shown = "" if view is None else f" You see: {msgspec.json.encode(view).decode()}."
    message = f"Your move in {match_id} ({game}), within {turn.seconds_left:.0f} s.{shown}"
    moves = {"type": "string", "title": "Move", "enum": [_text(move) for move in turn.legal_moves]}
    schema = {"type": "object", "properties": {"move": moves}, "required": ["move"]}
    return InputNeededError(turn.turn_id, message, schema)


def moved(guest: Guest, answers: Mapping[str, Json]) -> bool:
    """Play what the person filled in; False if it does not want to be asked.

    What was filled in for a turn that is over, or wrongly, changes nothing: whoever has an open
    turn is asked again.
    """
    for turn_id, answer in answers.items():
        if not guest.mailbox.is_open(turn_id):
            continue
        if answer.get("action") != "accept":
            return False
        with suppress(ProtocolError):
            guest.mailbox.play(turn_id, (answer.get("content") or {}).get("move"))
    return True


def _text(move: Json) -> str:
    return move if isinstance(move, str) else msgspec.json.encode(move).decode()
