"""The tools that play a match step by step, for a person or a model."""

from collections.abc import Sequence
from functools import partial

from agent_league.offer import Schema, ToolCard, ToolHandler


def _make_schema(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


_REGISTER_INPUT: Schema = {
    "type": "object",
    "properties": {"auth_token": {"type": "string", "description": "The referee's own token."}},
}
_STEP_INPUT = _make_schema(
    match_id={"type": "string", "description": "A match started with auto: false."},
    ticket={"type": "string", "description": "The ticket that came with START_MATCH."},
)
_STEP_OUTPUT = _make_schema(
    status={"const": "ok"},
    match_id={"type": "string"},
    state={"type": "string", "description": "The state of the match after this step."},
)
_FINAL_OUTPUT = _make_schema(
    status={"const": "ok"}, match_id={"type": "string"}, game_result={"type": "object"}
)


def make_cards(
    *, register: ToolHandler, collect: ToolHandler, draw: ToolHandler, finalize: ToolHandler
) -> Sequence[ToolCard]:
    make_step = partial(ToolCard, input_schema=_STEP_INPUT, output_schema=_STEP_OUTPUT)
    return (
        ToolCard(
            name="register_to_league",
            title="Register this referee",
            description="Make this referee register at its league. If it is registered already, "
            "that needs its own token. The answer says under which id.",
            call=register,
            input_schema=_REGISTER_INPUT,
            output_schema={"type": "object", "properties": {"status": {"const": "ok"}}},
        ),
        make_step(
            name="collect_choices",
            title="Step 1: collect the choices",
            description="Ask the players of a match for their moves, both at once, and wait for "
            "their answers. The choices stay hidden until the match is over. Only for a match "
            "that was started with auto: false, in state COLLECTING_CHOICES.",
            call=collect,
        ),
        make_step(
            name="draw_number",
            title="Step 2: draw the number",
            description="Apply the rules, and chance, to the choices. Only for a match that was "
            "started with auto: false, in state DRAWING_NUMBER.",
            call=draw,
        ),
        make_step(
            name="finalize_match",
            title="Step 3: finalize the match",
            description="Judge a match whose state is FINISHED: tell both players, report the "
            "result to the league, and return game_result (winner, number, choices, reason).",
            call=finalize,
            output_schema=_FINAL_OUTPUT,
        ),
    )
