"""How the tools of the organiser are described to a caller."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from agent_league.offer import NOBODY, ORGANISER, Schema, ToolCard

MAX_TEXT = 500
"""The longest reason or announcement, in characters."""

_TOKEN = {
    "type": "string",
    "description": "The organiser's token, unless it comes as Authorization: Bearer.",
}
_MATCH = {"match_id": {"type": "string", "description": "As R1M1."}}
_AGENT = {"agent_id": {"type": "string", "description": "As P01 or REF01."}}
_REASON = {"reason": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT}}
_ACKNOWLEDGEMENT: Schema = {
    "type": "object",
    "properties": {"status": {"const": "ok"}, "note": {"type": "string"}},
    "required": ["status"],
}
_SCHEDULE: Schema = {
    "type": "object",
    "properties": {"final": {"type": "boolean"}, "rounds": {"type": "array"}},
    "required": ["final", "rounds"],
}
_NEW_TOKEN: Schema = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("agent_id", "auth_token", "expires")},
    "required": ["agent_id", "auth_token", "expires"],
}
_ORDER: Schema = {
    "type": "object",
    "properties": {"referee_endpoint": {"type": "string"}, "order": {"type": "object"}},
    "required": ["referee_endpoint", "order"],
}
_STEP: Schema = {
    "type": "object",
    "properties": {
        "step": {"type": "string"},
        "match_id": {"type": "string"},
        "state": {"type": "string"},
        "game_result": {"type": "object"},
    },
    "required": ["step", "match_id"],
}


def _describe(
    title: str,
    description: str,
    arguments: Mapping[str, Any] | None = None,
    required: Sequence[str] | None = None,
    **options: Any,
) -> Callable[..., ToolCard]:
    fields = arguments or {}
    needed = [*fields] if required is None else [*required]
    schema = {"type": "object", "properties": {**fields, "auth_token": _TOKEN}}
    defaults = {
        "input_schema": {**schema, "required": needed} if needed else schema,
        "output_schema": _ACKNOWLEDGEMENT,
        "idempotent": True,
        "audience": frozenset({ORGANISER}),
    }
    return partial(
        ToolCard,
        title=title,
        description=f"{description} Only for the organiser, with the organiser's token.",
        **{**defaults, **options},
    )


CARDS: Mapping[str, Callable[..., ToolCard]] = {
    "create_schedule": _describe(
        "Draw up the schedule",
        "Who meets whom, round by round. Before the league has started it is drawn for the players "
        "that are registered now, and changes with each that joins; start_league makes it final. "
        "Changes nothing by itself.",
        output_schema=_SCHEDULE,
        read_only=True,
        idempotent=False,
    ),
    "start_league": _describe(
        "Start league",
        "Close registration and begin with the players that are there. Fails if they are too few; "
        "does nothing if the league has begun.",
    ),
    "close_registration": _describe(
        "Close registration",
        "Let no further player register; the league begins later, with start_league. With closed "
        "false, players may register again. Fails once the league has begun.",
        {"closed": {"type": "boolean", "description": "false opens it again."}},
        required=(),
    ),
    "open_registration": _describe(
        "Open registration", "Let players register again.", audience=NOBODY
    ),
    "pause_league": _describe(
        "Pause league",
        "Let no further match begin; those that are being played are played to the end, and the "
        "league does not end. With paused false, matches begin again.",
        {"paused": {"type": "boolean", "description": "false lets matches begin again."}},
        required=(),
    ),
    "resume_league": _describe(
        "Resume league", "Let matches begin again after a pause.", audience=NOBODY
    ),
    "end_league": _describe(
        "End league",
        "End the league now: matches that are being played are played to the end, no other begins, "
        "and the table is final. It cannot be undone; the reason stays in the record.",
        _REASON,
        destructive=True,
    ),
    "void_match": _describe(
        "Void a match",
        "Take the result of a match out of the standings, for good. The match is not played again, "
        "and stays in the record with the reason.",
        _MATCH | _REASON,
        destructive=True,
    ),
    "replay_match": _describe(
        "Have a match played again",
        "Void the result of a match, and have the same players play a new match of the same round "
        "instead. The note says the new match's id.",
        _MATCH | _REASON,
        destructive=True,
    ),
    "disqualify_agent": _describe(
        "Disqualify an agent",
        "Exclude a player or a referee. The remaining matches of a player are technical losses; "
        "those of a referee go to another one. The agent is told the reason.",
        _AGENT | _REASON,
        destructive=True,
    ),
    "reinstate_agent": _describe(
        "Reinstate an agent",
        "Let a disqualified agent take part again. Matches that it lost meanwhile stay lost, unless "
        "replay_match has them played again.",
        _AGENT,
    ),
    "announce": _describe(
        "Announce",
        "Show a text to everybody who looks at the league: in its status, on its terminal and in "
        "its log. Players and referees get no message.",
        {"text": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT}},
        idempotent=False,
    ),
    "rotate_token": _describe(
        "Replace an agent's token",
        "Make all tokens of an agent invalid and return a new one, shown only now. The agent needs "
        "it to take part: start it again with this token.",
        _AGENT,
        output_schema=_NEW_TOKEN,
        destructive=True,
        idempotent=False,
    ),
    "play_by_hand": _describe(
        "Play a match by hand",
        "Have a match wait for its steps. It must not have begun: pause the league first. Then "
        "step_match takes one step after the other, or the tools of the referee do (get_order).",
        _MATCH,
    ),
    "get_order": _describe(
        "Show the order of a match",
        "Return where the referee of a match that is played by hand listens, and the signed "
        "START_MATCH, which the referee's tool start_match takes. Its ticket opens the referee's "
        "tools collect_choices, draw_number and finalize_match.",
        _MATCH,
        output_schema=_ORDER,
        read_only=True,
    ),
    "step_match": _describe(
        "Take the next step of a match",
        "Take a match that is played by hand one step on: collect the choices, draw the number, "
        "finalize. Returns the step and the state, and after the last step the result.",
        _MATCH,
        output_schema=_STEP,
        idempotent=False,
    ),
}
