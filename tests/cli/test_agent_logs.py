"""The logs of a folder: one for each agent, and one of the command that runs them."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.league_command import league, line_with, running

QUICK = ("--port-base", "0", "--json", "--seed", "7")
KEYS = ["timestamp", "component", "event_type", "level"]


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def events(file: Path) -> list[str]:
    return [entry["event_type"] for entry in lines(file)]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shared = tmp_path_factory.mktemp("logged") / "SHARED"
    arguments = ("--players", "3", "--log-level", "DEBUG", "--shared", str(shared))
    done = league("play", *QUICK, *arguments)
    assert done.returncode == 0, done.stderr
    return shared / "logs"


def test_every_agent_has_a_log_with_the_keys_of_the_protocol(logs: Path) -> None:
    found = sorted(file.name for file in (logs / "agents").iterdir())
    agents = ["P01", "P02", "P03", "REF01", "REF02"]
    assert found == [f"{agent}.log.jsonl" for agent in agents]
    for agent in agents:
        for entry in lines(logs / "agents" / f"{agent}.log.jsonl"):
            assert list(entry)[:4] == KEYS
            assert entry["component"] == agent


def test_a_player_logs_that_it_joined_its_results_and_the_end(logs: Path) -> None:
    notices = [entry for entry in lines(logs / "agents/P01.log.jsonl") if entry["level"] == "INFO"]
    kinds = [entry["event_type"] for entry in notices]
    assert kinds == ["REGISTERED", "MATCH_OVER", "MATCH_OVER", "LEAGUE_COMPLETED"]
    assert {entry["opponent"] for entry in notices[1:3]} == {"P02", "P03"}


def test_the_referees_log_every_match_once(logs: Path) -> None:
    referees = [*lines(logs / "agents/REF01.log.jsonl"), *lines(logs / "agents/REF02.log.jsonl")]
    ended = [one["match_id"] for one in referees if one["event_type"] == "MATCH_ENDED"]
    assert sorted(ended) == ["R1M1", "R2M1", "R3M1"]


def test_every_message_is_there_for_whoever_debugs_and_no_token_in_any(logs: Path) -> None:
    notices = lines(logs / "agents/P01.log.jsonl")
    received = [one["message"] for one in notices if one["event_type"] == "MESSAGE_RECEIVED"]
    arrived = {message.get("message_type") for message in received}
    assert {"GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"} <= arrived
    sent = [one["message"] for one in notices if one["event_type"] == "REPLY_SENT"]
    assert len(sent) == len(received)
    assert "GAME_JOIN_ACK" in {message.get("message_type") for message in sent}
    referee = lines(logs / "agents/REF01.log.jsonl")
    replies = [one["message"] for one in referee if one["event_type"] == "REPLY_RECEIVED"]
    assert {"GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"} <= {r.get("message_type") for r in replies}
    assert events(logs / "agents/REF01.log.jsonl").count("MESSAGE_SENT") > 0
    for file in logs.rglob("*.jsonl"):
        body = file.read_text(encoding="utf-8")
        assert "tok_" not in body
        assert "tkt_" not in body


def test_the_orchestrator_logs_who_was_started_and_how_it_went(logs: Path) -> None:
    notices = events(logs / "system/orchestrator.log.jsonl")
    started = notices.count("AGENT_STARTED")
    assert started >= 2  # a process for the referees, and at least one for the players
    assert notices[: 1 + started] == ["LEAGUE_OPENED"] + ["AGENT_STARTED"] * started
    assert notices.count("AGENT_ENDED") == started
    course = [kind for kind in notices if kind.startswith("LEAGUE_")]
    assert course == ["LEAGUE_OPENED", "LEAGUE_BEGUN", "LEAGUE_ENDED", "LEAGUE_DRAINED"]


def test_messages_are_not_logged_unless_somebody_asks(tmp_path: Path) -> None:
    shared = tmp_path / "SHARED"
    assert league("play", *QUICK, "--players", "2", "--shared", str(shared)).returncode == 0
    for file in (shared / "logs/agents").iterdir():
        assert {entry["level"] for entry in lines(file)} == {"INFO"}


def test_nothing_is_logged_of_a_league_that_is_not_kept(tmp_path: Path) -> None:
    done = league("play", *QUICK, "--players", "2", "--store", "memory", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_league_is_played_though_no_log_can_be_written(tmp_path: Path) -> None:
    shared = tmp_path / "SHARED"
    (shared / "logs/system").mkdir(parents=True)
    (shared / "logs/system/orchestrator.log.jsonl").symlink_to("/dev/full")
    (shared / "logs/agents").write_text("not a folder", encoding="utf-8")
    done = league("play", *QUICK, "--players", "2", "--shared", str(shared))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["technical_losses"] == 0
    assert "P01 keeps no log" in done.stderr


def test_an_interruption_is_logged_and_so_is_what_follows(tmp_path: Path) -> None:
    shared = tmp_path / "SHARED"
    arguments = ("manager", "--port", "0", "--players", "2", "--shared", str(shared))
    with running(*arguments) as manager:
        line_with(manager, "Waiting for 2 players")
        manager.interrupt()
        assert manager.wait() == 130
    notices = events(shared / "logs/system/orchestrator.log.jsonl")
    assert notices == ["LEAGUE_OPENED", "LEAGUE_INTERRUPTED"]
