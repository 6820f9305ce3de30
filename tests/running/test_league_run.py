"""One run of a league, with real processes: what observers see, and what is left behind."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_league.protocol import Role
from agent_league.running.folder import MEMORY, Folder
from agent_league.running.league_run import LeagueRun, Observer, run_league
from agent_league.running.processes import AgentDiedError
from agent_league.running.serve import LOOPBACK, PortBusyError, bind
from agent_league.running.specs import LeagueSpec, number_agents
from agent_league.season.settings import LeagueSettings
from agent_league.store import Event
from agent_league.store.events import MatchEnded

pytestmark = pytest.mark.processes

SPEC = LeagueSpec(
    LeagueSettings(seed="7", awaited_players=3),
    number_agents(Role.REFEREE, 1),
    number_agents(Role.PLAYER, 3),
    port_base=0,
    max_processes=1,
)


class Witness(Observer):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.matches = 0
        self.tokens: list[str | None] = []

    def on_start(self, league_run: LeagueRun) -> None:
        self.calls.append(f"start {len(league_run.spec.processes)}")

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        self.calls.append("open")
        self.tokens.append(organiser_token)

    def on_event(self, event: Event) -> None:
        self.matches += isinstance(event, MatchEnded)

    def on_close(self) -> None:
        self.calls.append("close")


def read_log(shared: Path) -> list[str]:
    lines = (shared / "logs/system/orchestrator.log.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["event_type"] for line in lines]


def test_a_run_is_observed_logged_and_kept(tmp_path: Path) -> None:
    folder, witness = Folder(tmp_path), Witness()
    league_run = run_league(folder.save_spec(SPEC), folder, witness)
    assert league_run.season.played == 3
    assert league_run.seconds > 0
    assert (witness.calls, witness.matches) == (["start 2", "open", "close"], 3)
    assert witness.tokens[0] is not None
    assert not any(process.is_alive() for process in league_run.processes.all)
    (row,) = folder.list_leagues()
    assert (row.ended, row.matches) == (1, 3)
    started, ended = ["AGENT_STARTED"] * 2, ["AGENT_ENDED"] * 2
    noted = read_log(tmp_path)
    assert [one for one in noted if one.startswith("LEAGUE")] == [
        "LEAGUE_OPENED",
        "LEAGUE_BEGUN",
        "LEAGUE_ENDED",
        "LEAGUE_DRAINED",
    ]
    assert [one for one in noted if one.startswith("AGENT")] == started + ended


def test_a_run_in_memory_leaves_no_file(tmp_path: Path) -> None:
    folder = Folder(tmp_path, MEMORY)
    assert run_league(folder.save_spec(SPEC), folder).season.played == 3
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_agents_fail_ends_with_the_reason(tmp_path: Path) -> None:
    broken = [replace(one, strategy="no_such_strategy") for one in SPEC.players]
    witness = Witness()
    with pytest.raises(AgentDiedError, match="3 players ended before the league was over"):
        run_league(replace(SPEC, players=broken), Folder(tmp_path), witness)
    assert witness.calls == ["start 2", "open", "close"]
    assert read_log(tmp_path)[-1] == "LEAGUE_FAILED"


def test_a_run_whose_port_is_taken_starts_nothing(tmp_path: Path) -> None:
    witness = Witness()
    with bind(LOOPBACK, 0) as sock, pytest.raises(PortBusyError):
        run_league(SPEC.with_ports(sock.getsockname()[1]), Folder(tmp_path), witness)
    assert witness.calls == []
    assert read_log(tmp_path) == ["LEAGUE_FAILED"]


class Killer(Witness):
    """Kills every process of the league's agents when the first match has ended."""

    def on_start(self, league_run: LeagueRun) -> None:
        self._processes = league_run.processes

    def on_event(self, event: Event) -> None:
        super().on_event(event)
        if isinstance(event, MatchEnded) and self.matches == 1:
            for process in self._processes.all:
                process.kill()


def test_agents_whose_processes_are_killed_come_back_and_the_league_ends(tmp_path: Path) -> None:
    spec = replace(SPEC, players=number_agents(Role.PLAYER, 4), max_processes=1)
    terms = replace(SPEC.settings, awaited_players=4)
    league_run = run_league(replace(spec, settings=terms), Folder(tmp_path), Killer())
    assert league_run.season.played == 6
    assert len(league_run.processes.all) == 4
    assert not any(process.is_alive() for process in league_run.processes.all)
