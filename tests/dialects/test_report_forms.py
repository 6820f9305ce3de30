"""However a result is reported, what counts is who won."""

import json
from typing import Any

import msgspec
import pytest

from agent_league.dialects.v2.completion import Situation
from agent_league.dialects.v2.inbound import interpret
from agent_league.league.verdicts import find_contradiction, read_verdict
from agent_league.protocol.play import ResultReport
from agent_league.protocol.results import ReportedResult
from protocol.samples import SAMPLES

REPORT = msgspec.to_builtins(SAMPLES["MATCH_RESULT_REPORT"])
BARE = {key: value for key, value in REPORT.items() if key != "result"}

FORMS: list[tuple[dict[str, Any], str | None]] = [
    ({"winner_id": "P01"}, "P01"),
    ({"winner": "P02", "score": {"P02": 3}}, "P02"),
    ({"winner_player_id": None}, None),
    ({"winner": "DRAW"}, None),
    ({"result": {"winner": "P01"}}, "P01"),
    ({"result": {"winner_id": "P01", "score": {"P01": 0, "P02": 3}}}, "P01"),
    ({"result": {"winner": "tie", "score": {}, "details": {}}}, None),
    ({"players": {"P01": {"outcome": "LOSS"}, "P02": {"outcome": "WIN"}}}, "P02"),
    ({"players": {"P01": {"score": 3}, "P02": {"score": 0}}}, "P01"),
    ({"players": {"P01": "DRAW", "P02": "DRAW"}}, None),
]


@pytest.mark.parametrize(("form", "winner"), FORMS)
def test_the_winner_is_found(form: dict[str, Any], winner: str | None) -> None:
    frame = {"jsonrpc": "2.0", "method": "report_match_result", "params": BARE | form, "id": 1}
    found = interpret(json.dumps(frame).encode(), Situation("2025-01-15T10:30:00Z"))
    assert found is not None
    assert isinstance(found.message, ResultReport)
    assert found.message.result.winner == winner
    assert [deviation.rule.id for deviation in found.deviations] == ["report-form"]


@pytest.mark.parametrize(
    ("winner", "score", "follows"),
    [
        ("P01", {"P01": 3, "P02": 0}, True),
        ("P01", {"P01": 0, "P02": 3}, False),
        ("P01", {"P01": 1, "P02": 1}, False),
        (None, {"P01": 1, "P02": 1}, True),
        (None, {"P01": 3, "P02": 0}, False),
        ("P01", {}, True),
        ("P01", {"P01": 1, "P02": 0}, False),
        (None, {"P01": 0, "P02": 0}, False),
    ],
)
def test_a_score_that_does_not_follow_from_the_winner_is_noted(
    winner: str | None, score: dict[str, int], follows: bool
) -> None:
    reported = ReportedResult(winner=winner, score=score, details={})
    result = read_verdict(reported, ("P01", "P02"), "even_odd")
    assert (not list(find_contradiction(reported, result))) is follows
