"""The tools by which a match is played step by step, as a person or a model would."""

from collections.abc import Sequence

from agent_league.mcp.tools import Called, Schema, ToolCard

_MATCH: Schema = {
    "type": "object",
    "properties": {
        "match_id": {"type": "string", "description": "A match started with auto: false."},
        "ticket": {"type": "string", "description": "The ticket that came with START_MATCH."},
    },
    "required": ["match_id", "ticket"],
}
_STEPPED: Schema = {
    "type": "object",
    "properties": {
        "status": {"const": "ok"},
        "match_id": {"type": "string"},
        "state": {"type": "string", "description": "Where the match stands now."},
    },
    "required": ["status", "match_id", "state"],
}

_FINALIZED: Schema = {
    "type": "object",
    "properties": {
        "status": {"const": "ok"},
        "match_id": {"type": "string"},
        "game_result": {"type": "object"},
    },
    "required": ["status", "match_id", "game_result"],
}


def cards(
    *, register: Called, collect: Called, draw: Called, finalize: Called
) -> Sequence[ToolCard]:
    return (
        ToolCard(
            name="register_to_league",
            title="Register this referee",
            description="Have this referee register at its league, again if it had before. "
            "The answer says under which id.",
            call=register,
            output_schema={"type": "object", "properties": {"status": {"const": "ok"}}},
        ),
        ToolCard(
            name="collect_choices",
            title="Step 1: collect the choices",
            description="Ask the players of a match for their moves, both at once, and wait for "
            "their answers. The choices stay hidden until the match is over. Only for a match "
            "that was started with auto: false, in state COLLECTING_CHOICES.",
            call=collect,
            input_schema=_MATCH,
            output_schema=_STEPPED,
        ),
        ToolCard(
            name="draw_number",
            title="Step 2: draw the number",
            description="Let the rules and chance do their part once the choices are in. Only "
            "for a match that was started with auto: false, in state DRAWING_NUMBER.",
            call=draw,
            input_schema=_MATCH,
            output_schema=_STEPPED,
        ),
        ToolCard(
            name="finalize_match",
            title="Step 3: finalize the match",
            description="Judge a match whose state is FINISHED: tell both players, report the "
            "result to the league, and return game_result (winner, number, choices, reason).",
            call=finalize,
            input_schema=_MATCH,
            output_schema=_FINALIZED,
        ),
    )
