"""`league play`, over real HTTP."""

import io
import json
import re
import shlex
import socket
from pathlib import Path
from typing import Any, cast

import pytest

from agent_league.cli import main
from agent_league.game import GAMES
from cli.league_command import document, league

ANY_PORTS = ("--port-base", "0")


def without_time(played: dict[str, Any]) -> dict[str, Any]:
    played["totals"].pop("seconds_playing")
    return played


def test_the_same_seed_plays_the_same_league() -> None:
    arguments = ("play", "--players", "4", "--seed", "7", "--json", *ANY_PORTS)
    assert without_time(document(*arguments)) == without_time(document(*arguments))


def test_the_document_tells_the_whole_league() -> None:
    played = document("play", "--players", "5", "--seed", "1", "--legs", "2", "--json", *ANY_PORTS)
    assert played["schema_version"] == 1
    assert played["seed"] == "1"
    assert played["champion"] == played["standings"][0]
    assert len(played["matches"]) == played["totals"]["matches"] == 20
    for match in played["matches"]:
        assert match["termination"] == "completed"
        assert 1 <= match["drawn_number"] <= 10
        assert set(match["choices"]) == set(match["players"])
        assert match["match_id"].startswith(f"R{match['round_id']}M")
    draws = played["totals"]["draws"]
    points = sum(row["points"] for row in played["standings"])
    assert points == 2 * draws + 3 * (20 - draws)


def test_people_get_a_table_a_champion_and_what_to_do_next() -> None:
    done = league("play", "--seed", "7", *ANY_PORTS)
    assert done.returncode == 0
    assert "Champion: " in done.stdout
    assert done.stdout.splitlines()[0].split() == ["#", "Agent", "Id", "P", "W", "D", "L", "Pts"]
    assert "Round 3/3 over, 6 matches played" in done.stderr
    assert "league start --players 4" in done.stderr


def test_the_winner_of_a_cup_is_the_champion_on_the_screen_and_in_the_record() -> None:
    arguments = ("play", "--players", "5", "--format", "knockout", "--seed", "3", *ANY_PORTS)
    shown = league(*arguments).stdout
    assert "Ranked by how far each came in the cup, then points." in shown
    played = document(*arguments, "--json")
    final = played["matches"][-1]
    assert {row["player_id"] for row in played["standings"][:2]} == set(final["players"])
    assert f"({played['champion']['player_id']})" in shown.split("Champion: ")[1]


def test_display_none_prints_only_the_result() -> None:
    done = league("play", "--display", "none", "--seed", "7", *ANY_PORTS)
    assert "Round" not in done.stderr
    assert "Champion: " in done.stdout


def test_an_own_strategy_plays_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "odd_one.py"
    file.write_text("def strategy(situation):\n    return 'odd'\n")
    played = document("play", "--players", "3", "--strategy", str(file), "--json", *ANY_PORTS)
    assert {c for match in played["matches"] for c in match["choices"].values()} == {"odd"}
    assert "odd_one" in played["champion"]["display_name"]


def test_a_strategy_that_raises_costs_a_logged_move_and_not_the_match(tmp_path: Path) -> None:
    file = tmp_path / "raising.py"
    file.write_text("def strategy(situation):\n    raise ValueError('no idea')\n")
    arguments = ("--players", "2", "--strategy", f"{file},always_odd", "--json", *ANY_PORTS)
    done = league("play", *arguments)
    assert json.loads(done.stdout)["totals"]["technical_losses"] == 0
    failure = "raised ValueError('no idea') at raising.py:2; playing a random legal move"
    assert f"P01: strategy raising {failure}\n" in done.stderr


def test_a_busy_port_is_named_with_who_holds_it() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        done = league("play", "--port-base", str(port))
        assert done.returncode == 3
        assert f"port {port} is in use by pid" in done.stderr
        assert "hint: choose other ports with --port-base" in done.stderr
        notices = json.loads(league("play", "--port-base", str(port), "--json").stdout)
        assert notices["error"]["code"] == 3


@pytest.mark.parametrize(
    ("arguments", "reply"),
    [
        (("play", "--plyers", "4"), "did you mean --players?"),
        (("ply",), "did you mean league play?"),
        (("play", "--players", "1"), "a league needs 2 players"),
        (("play", "--strategy", "nonsense"), "there is no strategy 'nonsense'"),
        (("play", "--strategy", "missing.py"), "there is no file missing.py"),
        (("play", "--players", "2", "--strategy", "a,b,c"), "3 strategies for 2 players"),
        (("play", "--display", "loud"), "display"),
        (("play", "--format", "swiss", "--game", "even_odd,kuhn_poker"), "has one game, not 2"),
        (("schema", "NOPE"), "there is no message 'NOPE'"),
    ],
)
def test_a_wrong_call_is_answered_with_what_would_be_right(
    arguments: tuple[str, ...], reply: str
) -> None:
    done = league(*arguments)
    assert done.returncode == 2
    assert reply in done.stderr


def test_a_league_is_played_in_league_v1_with_its_numbers() -> None:
    arguments = ("--players", "6", "--seed", "3", "--protocol", "league.v1", "--json")
    played = document("play", *arguments, *ANY_PORTS)
    assert played["totals"]["matches"] == 15
    assert played["totals"]["technical_losses"] == 0
    numbers = [match["drawn_number"] for match in played["matches"]]
    assert all(0 <= number <= 99 for number in numbers)
    assert max(numbers) > 10


@pytest.mark.parametrize(
    "flags",
    [
        ("--players", "3"),
        ("--players", "4", "--strategy", "markov,random", "--legs", "2", "--referees", "1"),
        ("--game", "tic_tac_toe", "--players", "2", "--assign", "round_robin"),
        ("--strategy", "always_odd", "--players", "2", "--protocol", "league.v1"),
    ],
)
def test_the_next_command_plays_exactly_this_league_again(
    flags: tuple[str, ...], tmp_path: Path
) -> None:
    here = ("--shared", str(tmp_path / "my leagues"))
    first = league("play", *flags, *ANY_PORTS, *here)
    (again,) = re.findall(r"^  league (play .*?)  +play exactly", first.stderr, re.MULTILINE)
    second = league(*shlex.split(again), *ANY_PORTS)
    assert second.returncode == 0, second.stderr
    ids = [row["league_id"] for row in document("leagues", "--json", *here)["leagues"]]
    played = [document("export", one, "--format", "json", *here)["matches"] for one in ids]
    assert played[0] == played[1]


def test_a_league_of_another_game_has_its_name_and_players_that_fit(tmp_path: Path) -> None:
    flags = ("--game", "tic_tac_toe", "--json", *ANY_PORTS, "--shared", str(tmp_path))
    played = document("play", *flags)
    assert played["league_id"] == "league_2025_tic_tac_toe"
    names = [row["display_name"] for row in played["standings"]]
    assert not [name for name in names if "always" in name]


class Trickle(io.RawIOBase):
    """A stream that takes only a few bytes at a time."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.taken += bytes(data[:1000])
        return min(1000, len(data))


def test_long_output_is_whole_though_stdout_is_unbuffered(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = Trickle()
    unbuffered = io.TextIOWrapper(cast(Any, raw), "utf-8", write_through=True)
    monkeypatch.setattr("sys.stdout", unbuffered)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # a command that ends ignores Ctrl-C
    with pytest.raises(SystemExit) as ended:
        main(["schema"])
    assert not ended.value.code
    assert json.loads(raw.taken)["GAME_INVITATION"]


def test_the_live_view_shows_the_round_and_the_matches() -> None:
    done = league("play", "--players", "2", "--display", "rich", *ANY_PORTS)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Round 1/1 .* 1/1 matches", done.stderr)
    assert "  R1M1   Alpha (frequency) [" in done.stderr


def test_a_learner_goes_on_in_the_next_league(tmp_path: Path) -> None:
    flags = ("--strategy", "q_learning,always_even", "--players", "2", "--legs", "30", *ANY_PORTS)
    counts = []
    for _ in range(2):
        league("play", *flags, "--shared", str(tmp_path))
        (file,) = (tmp_path / "state" / "learned").iterdir()
        assert file.name == "P01.q_learning.json"
        payoffs = json.loads(file.read_text(encoding="utf-8"))["payoffs"]
        counts.append(sum(n - 1 for row in payoffs.values() for _, n in row.values()))
    assert counts == [30, 60]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_game_is_one_flag(game: str) -> None:
    played = document("play", "--game", game, "--players", "2", "--json", *ANY_PORTS)
    assert played["league_id"].endswith(game)
    assert {match["termination"] for match in played["matches"]} == {"completed"}
