"""The examples of docs/python-api.md are run here, in the order of the page."""

import asyncio
import importlib
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_league.player import Player, load_brain
from agent_league.protocol.registration import PlayerMeta
from agent_league.running.serve import bind, open_client, serve_until, url_of
from cli.league_command import league, line_with, running
from terminals import BIN

PAGE = (Path(__file__).parent.parent / "docs" / "python-api.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def run(title: str, **names: Any) -> dict[str, Any]:
    """Run the examples of a section, and return the names that they define."""
    for code in re.findall(r"```python\n(.*?)```", EXAMPLES[title], re.DOTALL):
        exec(compile(code, f"python-api.md, {title}", "exec"), names)  # noqa: S102 - our page
    return names


@pytest.mark.parametrize("title", ["A strategy", "A game", "Messages"])
def test_an_example_runs(title: str) -> None:
    assert run(title)


def test_the_player_and_the_referee_of_the_page_play_a_league(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main = run("A player and a referee")["main"]
    with running("manager", "--port", "0", "--players", "2") as manager:
        url = line_with(manager, "Waiting").split()[-1]
        asyncio.run(main(url))
        stdout, _ = manager.communicate()
    assert "Champion" in stdout
    assert "R1M1 P02" in capsys.readouterr().out


def test_the_results_of_a_league_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert league("play", "--port-base", "0", "--display", "none", cwd=tmp_path).returncode == 0
    run("The results of a league")
    assert "P01 " in capsys.readouterr().out


@pytest.mark.processes
def test_the_program_that_plays_a_whole_league_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(BIN), prepend=":")
    monkeypatch.setenv("LEAGUE_PLAY_PORT_BASE", "0")
    assert len(run("A whole league")["document"]["matches"]) == 6


def test_the_check_of_the_page_finds_nothing_wrong_with_our_player() -> None:
    check = run("Check an agent")["check"]
    assert asyncio.run(_check_player(check)) == []


async def _check_player(check: Callable[[str], Awaitable[list[str]]]) -> list[str]:
    sock = bind("127.0.0.1", 0)
    url, broken = url_of(sock), ["the check did not end"]
    meta = PlayerMeta(
        display_name="Ada", version="1.0.0", contact_endpoint=url, game_types=["even_odd"]
    )

    async def work() -> None:
        broken[:] = await check(url)

    async with open_client() as client:
        nowhere = "http://127.0.0.1:9/mcp"
        player = Player("Ada", client, nowhere, meta=meta, brain=load_brain("random"))
        await serve_until(player, sock, work())
    return broken


def test_the_public_names_exist() -> None:
    rows = re.findall(r"^\| [^|]+ \| (`[^|]+`) \| `([\w.]+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) == 10
    for names, module in rows:
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def test_the_examples_use_public_names_only() -> None:
    table = PAGE.partition("## ")[0]
    used = re.findall(r"from (agent_league\.[\w.]+) import ([^\n]+)", PAGE)
    for module, names in used:
        assert module in table
        public = re.findall(r"\w+", table) if module != "agent_league.files" else names.split(", ")
        assert set(names.split(", ")) <= set(public), module
