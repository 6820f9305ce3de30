"""What `league simulate` shows, and how it refuses."""

import json
from pathlib import Path

import pytest

from cli.league_command import document, league


def test_the_table_of_several_sizes_fits_a_terminal() -> None:
    done = league("simulate", "4,10,30,50")
    assert done.returncode == 0, done.stderr
    table = [line for line in done.stdout.splitlines() if "players:" not in line]
    assert table[0].split() == ["Players", "4", "10", "30", "50"]
    assert max(len(line.rstrip()) for line in table) < 80
    assert "50 players: " in done.stdout


def test_a_document_has_every_number_and_every_limit() -> None:
    (found,) = document("simulate", "10", "--format", "ladder", "--rounds", "3", "--json")[
        "estimates"
    ]
    assert (found["matches"], found["rounds"], found["forfeits"]) == (5 + 4 + 5, 3, 0)
    assert found["rows"] == 3 * 14 + 2 * 3
    assert {limit["name"] for limit in found["limits"]} >= {
        "the manager's processor",
        "the store",
        "the network",
        "room at the referees",
    }


def test_players_that_want_no_table_are_sent_none() -> None:
    sent = {}
    for wish in ("all", "neighbours", "round", "none"):
        arguments = ("simulate", "200", "--format", "ladder", "--standings", wish, "--json")
        (sent[wish],) = document(*arguments, "--think", "1")["estimates"]
    bits = {wish: one["network_mbit"] for wish, one in sent.items()}
    assert bits["none"] < bits["neighbours"] < bits["all"]
    assert bits["none"] < bits["round"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("many",), "is no number of players"),
        (("1",), "is no number of players"),
        (("10", "--game", "chess"), "there is no game 'chess'"),
        (("10", "--costs", "missing.json"), "missing.json cannot be read"),
    ],
)
def test_what_cannot_be_simulated_is_said_so(arguments: tuple[str, ...], said: str) -> None:
    done = league("simulate", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "hint: " in done.stderr


def test_a_file_of_costs_that_lacks_one_is_refused(tmp_path: Path) -> None:
    costs = tmp_path / "costs.json"
    costs.write_text(json.dumps({"measured": "here"}), encoding="utf-8")
    done = league("simulate", "10", "--costs", str(costs))
    assert done.returncode == 2
    assert "holds no costs" in done.stderr
