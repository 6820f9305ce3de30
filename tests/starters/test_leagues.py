"""Each starter, as it is written, plays a whole league with ours and loses nothing by its form."""

import asyncio
import importlib.metadata
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_league.protocol import Patience, Role
from agent_league.store.events import SeasonStarted
from cli.league_process import COMMAND, PLAIN, league
from end_to_end.http_league import HttpLeague, played_with_programs
from free_ports import free_port
from starters.programs import PLAYERS, line_with, listening, started, written

pytestmark = pytest.mark.slow

LEISURE = {"patience": Patience(), "farewell": 5.0}
"""A busy machine takes its time to start a program; no starter may lose a match by that."""


def results(http_league: HttpLeague) -> list[Any]:
    return list(http_league.manager.season.results.values())


@pytest.mark.parametrize("game", ["even_odd", "tic_tac_toe"])
@pytest.mark.parametrize("lang", PLAYERS)
def test_a_player_as_it_is_written_plays_a_whole_league(
    lang: str, game: str, tmp_path: Path
) -> None:
    program = written(tmp_path, "player", "Ada", "--lang", lang)

    async def script(http_league: HttpLeague) -> None:
        await http_league.add_referee(game_types=["even_odd", "tic_tac_toe"])
        await http_league.add_player("markov", ["even_odd", "tic_tac_toe"])
        await http_league.add_player("random", ["even_odd", "tic_tac_toe"])
        with started(program, "--league", http_league.url, "--port", "0"):
            await http_league.play()

    http_league = played_with_programs(script, game_type=game, awaited_players=3, legs=2, **LEISURE)
    names = [row.display_name for row in http_league.manager.season.standings()]
    assert "Ada" in names
    assert [ended.termination for ended in results(http_league)] == ["completed"] * 6


def test_a_referee_as_it_is_written_serves_a_whole_league(tmp_path: Path) -> None:
    program = written(tmp_path, "referee", "Whistle")

    async def script(http_league: HttpLeague) -> None:
        for strategy in ("always_even", "always_odd", "always_even"):
            await http_league.add_player(strategy)
        with started(program, "--league", http_league.url, "--port", "0"):
            await http_league.play()

    http_league = played_with_programs(script, awaited_players=3, legs=4, **LEISURE)
    assert {ended.referee_id for ended in results(http_league)} == {"REF01"}
    assert {ended.status for ended in results(http_league)} == {"WIN", "DRAW"}
    for ended in results(http_league):
        assert _rightly_judged(ended.details, ended.winner)


def _rightly_judged(details: dict[str, Any], winner: str | None) -> bool:
    parity = ("even", "odd")[details["drawn_number"] % 2]
    right = [player for player, choice in details["choices"].items() if choice == parity]
    return winner == (right[0] if len(right) == 1 else None)


def test_a_referee_as_it_is_written_survives_players_that_do_not_answer(tmp_path: Path) -> None:
    program = written(tmp_path, "referee", "Whistle")
    late = {"heartbeat": 60.0, "announcement_lead": 0.5}

    async def script(http_league: HttpLeague) -> None:
        await http_league.add_player()
        silent: Any = await http_league.add_player()
        manager = http_league.manager

        def leave(started: SeasonStarted) -> None:
            manager.spawn(silent.server.close())

        manager.events.when_kept(SeasonStarted, leave)
        with started(program, "--league", http_league.url, "--port", "0"):
            await http_league.play()

    http_league = played_with_programs(script, awaited_players=2, **{**LEISURE, **late})
    (ended,) = results(http_league)
    assert (ended.winner, ended.technical_losses) == ("P01", ["P02"])


@pytest.mark.parametrize("lang", PLAYERS)
def test_a_player_that_is_killed_and_started_again_is_the_same_player(
    lang: str, tmp_path: Path
) -> None:
    program = written(tmp_path, "player", "Ada", "--lang", lang)

    async def script(http_league: HttpLeague) -> None:
        port = free_port()
        for _ in range(2):
            with started(program, "--league", http_league.url, "--port", str(port)) as process:
                await asyncio.to_thread(line_with, process, "P01")
        with started(program, "--league", http_league.url, "--port", str(port)) as process:
            await asyncio.to_thread(line_with, process, "P01")
            await http_league.add_referee()
            await http_league.add_player()
            await http_league.play()

    http_league = played_with_programs(script, awaited_players=2, **LEISURE)
    assert len(http_league.manager.season.roster.of(Role.PLAYER)) == 2
    assert [ended.termination for ended in results(http_league)] == ["completed"]


def test_the_messages_by_hand_are_answered_by_a_player_and_by_a_league(tmp_path: Path) -> None:
    script = written(tmp_path, "player", 'Cy "the \\" hand', "--lang", "curl")
    shell = shutil.which("sh")
    assert shell
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")

    def by_hand(*words: str) -> list[dict[str, Any]]:
        command = [shell, str(script), *words]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=50, env=PLAIN, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line[2:]) for line in done.stdout.splitlines() if line[:3] == "< {"]

    with listening(written(tmp_path, "player", "Ada", "--lang", "python-plain")) as url:
        ack, choice, over, wrong, unknown = by_hand("match", url)
    assert ack["result"]["accept"] is True
    assert choice["result"]["parity_choice"] in ("even", "odd")
    assert over["result"]["status"] == "ok"
    assert (wrong["error"]["code"], unknown["error"]["code"]) == (-32602, -32601)

    async def register(http_league: HttpLeague) -> None:
        (answer,) = await asyncio.to_thread(by_hand, "register", http_league.url)
        assert answer["result"]["player_id"] == "P01"

    http_league = played_with_programs(register)
    assert http_league.manager.season.roster["P01"].display_name == 'Cy "the \\" hand'


def test_a_strategy_as_it_is_written_plays(tmp_path: Path) -> None:
    written(tmp_path, "strategy", "Contrary")
    arguments = ("--strategy", "contrary.py,random", "--players", "3", "--port-base", "0")
    done = league("play", *arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "playing a random legal move" not in done.stderr
    notices = json.loads(done.stdout)
    assert notices["totals"]["technical_losses"] == 0
    assert "Alpha (contrary)" in {row["display_name"] for row in notices["standings"]}


def test_a_game_as_it_is_written_plays_by_itself_and_installed(tmp_path: Path) -> None:
    program = written(tmp_path, "game", "Ten Stones")
    by_itself = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=50, check=True
    )
    assert "took the last stone" in by_itself.stdout
    site = tmp_path / "site"
    _install(program.parent, site)
    done = subprocess.run(
        [
            *COMMAND,
            *["play", "--game", "ten_stones", "--json", "--players", "3", "--port-base", "0"],
        ],
        capture_output=True,
        text=True,
        timeout=50,
        env={**PLAIN, "PYTHONPATH": str(site)},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    notices = json.loads(done.stdout)
    assert (notices["totals"]["matches"], notices["totals"]["technical_losses"]) == (3, 0)


def _install(package: Path, site: Path) -> None:
    """Install *package* as pip would, with the build backend that this environment has."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    assert uv, "uv comes with the requirements"
    offline = ("--offline", "--no-build-isolation", "--no-deps", "--python", sys.executable)
    command = [uv, "pip", "install", "--quiet", *offline, "--target", str(site), str(package)]
    subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    (found,) = importlib.metadata.distributions(path=[str(site)])
    assert [entry.name for entry in found.entry_points] == ["ten_stones"]
