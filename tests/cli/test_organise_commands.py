"""The organiser's commands: to which league they go, with which token, and what they print."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.league_command import document, league, line_with, running
from cli.test_agent_commands import endpoint


class Paused:
    """A league of three, with its address, that waits in its folder to be begun."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.folder = folder
        self.start = stack.enter_context(
            running("start", "--port-base", "0", "--referees", "1", cwd=folder)
        )
        self.url = endpoint(line_with(self.start, "Registration is open"))
        for number in (1, 2, 3):
            player = running("player", "--port", "0", "--league", self.url, "--name", f"N{number}")
            line_with(stack.enter_context(player), f"P0{number} is in")

    def order(self, *arguments: str) -> Any:
        done = league(*arguments)
        assert done.returncode == 0, done.stderr
        return done


@contextmanager
def waiting_league(folder: Path) -> Iterator[Paused]:
    with ExitStack() as stack:
        yield Paused(stack, folder)


def test_the_organiser_leads_a_league_from_the_command_line(tmp_path: Path) -> None:
    with waiting_league(tmp_path) as waiting:
        assert "no further match begins" in waiting.order("pause").stderr
        assert "PAUSED" in league("status", waiting.url).stdout
        waiting.order("begin")
        waiting.order("announce", "Lunch until one", waiting.url)
        status = document("status", waiting.url, "--json")
        assert (status["paused"], status["announcement"]) == (True, "Lunch until one")
        assert "Lunch until one" in league("status", waiting.url).stdout
        league_id = status["league_id"]
        waiting.order("disqualify", "P03", league_id, "--reason", "it is not its own work")
        waiting.order("go-on")
        printed, reply = waiting.start.communicate()
        assert "Champion: " in printed
        assert "P03 is disqualified (organiser): it is not its own work" in reply
        assert "Lunch until one" in reply
        matches = document("export", league_id, "--format", "json")["matches"]
        assert [m["termination"] for m in matches].count("disqualified") == 2


def test_the_organiser_plays_a_match_step_by_step(tmp_path: Path) -> None:
    with waiting_league(tmp_path) as waiting:
        waiting.order("pause")
        waiting.order("begin")
        waiting.order("by-hand", "R1M1")
        refused = league("step", "R1M1")
        assert refused.returncode == 1
        assert "is the league paused?" in refused.stderr
        waiting.order("go-on")
        assert waiting.order("step", "R1M1").stdout == "R1M1: collect_choices, now DRAWING_NUMBER\n"
        drawn = document("step", "R1M1", "--json")
        assert (drawn["step"], drawn["state"]) == ("draw_number", "FINISHED")
        assert "R1M1: finalize_match, now reported" in waiting.order("step", "R1M1").stdout
        printed, _ = waiting.start.communicate()
        assert "Champion: " in printed


def test_an_order_that_is_refused_ends_with_1_and_the_reason(tmp_path: Path) -> None:
    with waiting_league(tmp_path):
        refused = league("void", "R1M1")
        assert refused.returncode == 1
        assert "error: the league refuses: match_id: there is no result of 'R1M1'" in refused.stderr
        assert "hint: league status" in refused.stderr
        as_json = league("void", "R1M1", "--json")
        assert json.loads(as_json.stdout)["error"]["code"] == 1


def test_the_token_comes_from_the_environment_or_the_folder_and_else_is_asked_for(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with waiting_league(tmp_path) as waiting:
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        without = league("pause", waiting.url, cwd=elsewhere)
        assert without.returncode == 2
        assert "hint: set LEAGUE_ORGANISER_TOKEN" in without.stderr
        monkeypatch.setenv("LEAGUE_ORGANISER_TOKEN", "tok_organiser_wrong")
        wrong = league("pause", waiting.url, cwd=elsewhere)
        assert wrong.returncode == 1
        assert "this is not the organiser's token" in wrong.stderr
        assert "tok_organiser_wrong" not in wrong.stderr
        (file,) = (waiting.folder / "SHARED/state").glob("*/organiser.json")
        token = json.loads(file.read_text(encoding="utf-8"))["token"]
        monkeypatch.setenv("LEAGUE_ORGANISER_TOKEN", token)
        assert league("pause", waiting.url, cwd=elsewhere).returncode == 0


def test_a_new_token_is_printed_once(tmp_path: Path) -> None:
    with waiting_league(tmp_path) as waiting:
        done = waiting.order("token", "rotate", "P01")
        assert done.stdout.startswith("tok_P01_")
        assert len(done.stdout.splitlines()) == 1


def test_a_league_that_does_not_run_cannot_be_led(tmp_path: Path) -> None:
    assert league("play", "--players", "2", "--port-base", "0", cwd=tmp_path).returncode == 0
    done = league("pause", "league_2025_even_odd", cwd=tmp_path)
    assert done.returncode == 2
    assert "league_2025_even_odd is not running" in done.stderr
