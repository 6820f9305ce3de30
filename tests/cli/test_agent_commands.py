"""A manager, referees and players as separate commands, and the questions one can ask them."""

import json
import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from cli.league_command import document, league, line_with, running


def endpoint(line: str) -> str:
    found = re.search(r"http://\S+/mcp", line)
    assert found, line
    return found[0]


def test_agents_started_one_by_one_play_a_league() -> None:
    with ExitStack() as stack:
        manager = stack.enter_context(
            running("manager", "--port", "0", "--players", "3", "--league-id", "my_league")
        )
        url = endpoint(line_with(manager, "Waiting for 3 players"))
        joined = ("--port", "0", "--league", url)
        referee = stack.enter_context(running("referee", "--referee-id", "REF01", *joined))
        line_with(referee, "REF01 is in my_league")
        members = [referee]
        for number in (1, 2):
            player = running("player", "--player-id", f"P0{number}", *joined, "--name", "Ada")
            members.append(stack.enter_context(player))
            line_with(members[-1], f"P0{number} is in my_league")

        status = document("status", "--league", url, "--json")
        assert status["stage"] == "REGISTRATION"
        assert [agent["agent_id"] for agent in status["agents"]] == ["REF01", "P01", "P02"]
        wrong = league("player", *joined, "--league-id", "another_league")
        assert wrong.returncode == 1
        assert "This is my_league" in wrong.stderr

        last = stack.enter_context(running("player", *joined, "--strategy", "markov"))
        printed, _ = manager.communicate()
        assert manager.returncode == 0
        assert "Champion: " in printed
        for member in [*members, last]:
            assert member.wait() == 0
        _, seen = last.communicate()
        assert (
            len(re.findall(r"^R\dM1  against P0[12]: (?:won|lost|draw) ", seen, re.MULTILINE)) == 2
        )
        assert re.search(r"The league is over: P03 is number [123] with \d points?\.", seen)


def test_a_league_that_waits_for_other_agents_starts_when_enough_have_come() -> None:
    with ExitStack() as stack:
        start = stack.enter_context(
            running("start", "--players", "2", "--port-base", "0", "--referees", "1")
        )
        url = endpoint(line_with(start, "Registration is open"))
        first = stack.enter_context(running("player", "--port", "0", "--league", url))
        line_with(first, "P01 is in")
        assert league("standings", "--league", url).returncode == 0
        stack.enter_context(running("player", "--port", "0", "--league", url))
        reply, more = start.communicate()
        assert start.returncode == 0
        assert "Champion: " in reply
        assert "league grade league_2025_even_odd > grades.csv" in more
        assert "league export league_2025_even_odd --format csv" in more
        assert "exactly this league" not in more


def test_a_running_league_answers_the_four_questions() -> None:
    thinking = ("--strategy", "random")
    with ExitStack() as stack:
        manager = stack.enter_context(running("manager", "--port", "0", "--players", "3"))
        url = endpoint(line_with(manager, "Waiting"))
        for number in (1, 2):
            player = running("player", "--port", "0", "--league", url, *thinking)
            line_with(stack.enter_context(player), f"P0{number} is in")
        base = url.removesuffix("/mcp")
        table = document("standings", "--league", base, "--json")["standings"]
        assert [(row["player_id"], row["points"]) for row in table] == [("P01", 0), ("P02", 0)]
        assert document("schedule", "--league", base, "--json")["rounds"] == []
        stats = document("stats", "P02", "--league", base, "--json")
        assert stats["player_id"] == "P02"
        shown = league("status", "--league", base)
        assert "REGISTRATION" in shown.stdout
        unknown = league("stats", "P77", "--league", base)
        assert unknown.returncode == 2
        assert "has no players/P77" in unknown.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("standings",),
        ("schedule",),
        ("stats", "P01"),
        ("player", "--port", "0"),
        ("referee", "--port", "0"),
    ],
)
def test_a_missing_manager_is_said_so(arguments: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "SHARED/config/system.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"retry_policy": {"base_delay_sec": 0.01}}', encoding="utf-8")
    done = league(*arguments, "--league", "http://127.0.0.1:9/mcp", cwd=tmp_path)
    assert done.returncode == 4
    assert "error: 127.0.0.1:9 refused the connection" in done.stderr
    assert "hint: is a league running there?" in done.stderr


def test_the_schema_of_league_v1_can_be_printed() -> None:
    every = json.loads(league("schema", "--protocol", "league.v1").stdout)
    one = json.loads(league("schema", "play_request", "--protocol", "league.v1").stdout)
    assert len(every) == 13
    assert every["PLAY_REQUEST"] == one
    assert one["$schema"] == every["BASE"]["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_the_schema_of_every_message_can_be_printed() -> None:
    every = json.loads(league("schema").stdout)
    one = json.loads(league("schema", "game_invitation").stdout)
    assert every["GAME_INVITATION"] == one
    assert one["properties"]["role_in_match"]["enum"] == ["PLAYER_A", "PLAYER_B"]


def test_help_and_version_need_no_league() -> None:
    shown = league("--help").stdout
    commands = ("play", "start", "manager", "referee", "player", "status", "standings", "stats")
    assert all(command in shown for command in commands)
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", league("--version").stdout)


def test_the_organisers_token_is_shown_once_and_kept_for_its_owner(tmp_path: Path) -> None:
    shared = ("--shared", str(tmp_path), "--league-id", "mine")
    with running("manager", "--port", "0", "--players", "3", *shared) as manager:
        token = line_with(manager, "organiser's token").split()[-1]
        line_with(manager, "Waiting for 3 players")
    kept = tmp_path / "state" / "mine" / "organiser.json"
    assert json.loads(kept.read_text(encoding="utf-8"))["token"] == token
    assert kept.stat().st_mode & 0o077 == 0
    assert token not in (tmp_path / "league.db").read_bytes().decode("latin-1")
    with running("manager", "--port", "0", "--players", "3", *shared) as again:
        assert "token" not in line_with(again, "")
