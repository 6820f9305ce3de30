"""One valid and one invalid example of each message, as Markdown, from the golden files."""

import json
from pathlib import Path

from agent_league.protocol import ErrorCode, ProtocolError, read
from agent_league.vocabulary import Json

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"

MISTAKES = {
    "CHOOSE_PARITY_CALL": "deadline is two hours east of UTC",
    "CHOOSE_PARITY_RESPONSE": 'parity_choice is "Even"',
    "GAME_ERROR": "retry_info.max_retries is 0",
    "GAME_INVITATION": "role_in_match is in the other case",
    "GAME_JOIN_ACK": 'accept is "true"',
    "GAME_MOVE_CALL": "legal_moves is text",
    "GAME_MOVE_RESPONSE": "move is missing",
    "GAME_OVER": "game_result.status is in the other case",
    "LEAGUE_COMPLETED": "champion is text",
    "LEAGUE_ERROR": "original_message_type is missing",
    "LEAGUE_QUERY": "query_type is a word that is not among its values",
    "LEAGUE_QUERY_RESPONSE": "success is 1",
    "LEAGUE_REGISTER_REQUEST": 'player_meta.version is "1.0"',
    "LEAGUE_REGISTER_RESPONSE": "status is in the other case",
    "LEAGUE_STANDINGS_UPDATE": "round_id is 0",
    "MATCH_RESULT_REPORT": "a score is text",
    "MATCH_TRANSCRIPT": "part is 0",
    "REFEREE_REGISTER_REQUEST": "referee_meta.max_concurrent_matches is 11",
    "REFEREE_REGISTER_RESPONSE": "protocol is league.v3",
    "ROUND_ANNOUNCEMENT": "round_id is a number in quotes",
    "ROUND_COMPLETED": "timestamp is without a zone",
    "START_MATCH": "players is an object",
    "START_MATCH_RESPONSE": "message_type is in small letters",
}
"""The mistake that the page shows of each message: one that people make, and of many kinds."""


def make_examples(wire_name: str) -> str:
    """Return a valid example of a message, an invalid one, and the error that it gets."""
    valid = json.loads((GOLDEN / f"wire/league.v2/{wire_name}.json").read_text(encoding="utf-8"))
    case = _find_case(wire_name)
    code, detail = _find_refusal(case["body"])
    return (
        f"Valid:\n\n{_make_block(valid)}\n"
        f"Invalid, because {case['why']}:\n\n{_make_block(case['body'])}\n"
        f"{code} `{code.name}`: `{detail}`\n"
    )


def _find_case(wire_name: str) -> Json:
    cases = json.loads((GOLDEN / f"invalid/{wire_name}.json").read_text(encoding="utf-8"))
    return next(case for case in cases if case["why"] == MISTAKES[wire_name])


def _find_refusal(body: Json) -> tuple[ErrorCode, str]:
    """Return the code and the sentence with which an agent of ours refuses *body*."""
    try:
        read(json.dumps(body).encode())
    except ProtocolError as error:
        return error.code, error.detail
    raise ValueError(f"not refused: {body}")


def _make_block(message: Json) -> str:
    """Return *message* as a block of JSON, with a line for each of its fields."""
    lines = [f"  {json.dumps(field)}: {json.dumps(value)}" for field, value in message.items()]
    return "```json\n{\n" + ",\n".join(lines) + "\n}\n```\n"
