"""The bench measures what it says: the same messages in every reference, and a gate that closes."""

import re
from itertools import combinations

import pytest

from bench.comparison import RATIOS, RUNS, Comparison
from bench.gate import RECORDED, TOLERANCE, Speed, list_complaints
from bench.measurement import Cost
from bench.page import MEASURED, NAMES, PAGE, fill_in, make_tables
from bench.recording import Script, record
from bench.references.roles import draw_rounds
from bench.references.run import play_reference
from bench.report import TITLES, format_report, make_document
from bench.twin import ELSEWHERE, find_part

IN_A_MATCH = {
    "START_MATCH": 1,
    "GAME_INVITATION": 2,
    "CHOOSE_PARITY_CALL": 2,
    "GAME_OVER": 2,
    "MATCH_RESULT_REPORT": 1,
}


def make_cost(rate: float) -> Cost:
    return Cost(100, 1.0, {"manager": 100 / rate}, {"manager": 30.0})


def make_script() -> Script:
    return Script(4, 6, 3, 10, {}, {"START_MATCH": 6}, {"START_MATCH": 1})


def test_the_messages_of_a_real_league_are_recorded() -> None:
    script = record(4)
    assert (script.matches, script.rounds) == (6, 3)
    assert {kind: script.messages[kind] / 6 for kind in IN_A_MATCH} == IN_A_MATCH
    assert script.count_broadcasts("ROUND_ANNOUNCEMENT") == 3
    assert script.exchanges["START_MATCH"].request["method"] == "start_match"


@pytest.mark.processes
def test_a_reference_sends_all_the_messages_that_were_recorded() -> None:
    script = record(4)
    cost = play_reference("raw_asyncio", script)
    assert cost.matches == script.matches
    assert cost.messages == script.messages
    assert set(cost.cpu_s) == {"manager", "referee", "players"}


@pytest.mark.parametrize("players", [2, 4, 10, 50])
def test_in_a_reference_everybody_meets_everybody_once(players: int) -> None:
    rounds = draw_rounds(players)
    met = [tuple(sorted(pairing)) for pairings in rounds for pairing in pairings]
    assert sorted(met) == list(combinations(range(players), 2))
    assert all(len({*sum(pairings, ())}) == players for pairings in rounds)


def test_a_document_has_every_ratio_and_says_what_was_not_measured() -> None:
    costs = {"plain": [make_cost(300), make_cost(500)], "raw_asyncio": [make_cost(1000)] * 2}
    found = make_document(Comparison(make_script(), costs, {}, {"nginx_wrk": "there is no wrk"}))
    assert found["ratios"] == {**dict.fromkeys(RATIOS), "raw_asyncio": 0.4}
    assert "there is no wrk" in format_report(found)
    assert RUNS.keys() == TITLES.keys()


RECORD = Speed("3.11", 0.60, 0.62, 2000)


@pytest.mark.parametrize(
    ("now", "complaints"),
    [
        (RECORD, 0),
        (Speed("3.11", 0.50, 0.52, 2290), 0),
        (Speed("3.11", 0.48, 0.50, 2000), 1),
        (Speed("3.11", 0.60, 0.60, 2310), 1),
        (Speed("3.13", 0.60, 0.60, 2310), 0),
        (Speed("3.13", 0.48, 0.50, 2310), 1),
    ],
)
def test_the_gate_closes_when_a_number_is_15_percent_worse(now: Speed, complaints: int) -> None:
    assert TOLERANCE == 0.15
    assert len(list(list_complaints(RECORD, now))) == complaints


def test_a_speed_is_recorded() -> None:
    assert re.search(r'"raw_asyncio": 0\.\d+', RECORDED.read_text(encoding="utf-8"))


def test_the_page_has_a_place_for_every_table() -> None:
    found = [mark[2] for mark in MEASURED.finditer(PAGE.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(NAMES)


def test_only_the_tables_that_were_measured_are_written() -> None:
    page = (
        "<!-- measured: startup -->\nold\n<!-- end -->\n<!-- measured: mcp -->\nold\n<!-- end -->"
    )
    rows = [{"command": "league --version", "what": "CPU", "seconds": 0.06}]
    filled = fill_in(page, make_tables({"startup": rows}))
    assert "| league --version | CPU | 0.06 |\n<!-- end -->" in filled
    assert filled.endswith("<!-- measured: mcp -->\nold\n<!-- end -->")


def test_calls_belong_to_the_part_that_makes_them() -> None:
    assert find_part("src/agent_league/season/season.py") == "fold"
    assert find_part("src/agent_league/store/log.py") == "append"
    assert find_part("lib/python3.11/asyncio/tasks.py") == ELSEWHERE
