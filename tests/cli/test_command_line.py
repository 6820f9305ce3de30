"""The command line as a whole: help, errors, exit codes, and how a league is named."""

import json
import re
import shlex
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from agent_league.cli.app import make_app
from agent_league.cli.commands import ALIASES, APPS, ARGUMENTS, COMMANDS, EXAMPLES
from agent_league.cli.exit_codes import _EXITS, Exit
from agent_league.cli.program import localise, name_program
from agent_league.protocol import LeagueError
from cli.league_command import document, league, line_with, running
from cli.test_agent_commands import endpoint


def show_help(*arguments: str) -> str:
    done = league(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_help_lists_every_command_in_its_group_and_is_short() -> None:
    page = show_help("--help")
    assert page == show_help("help")
    assert [name for name in COMMANDS if not re.search(rf"^  {name}\b", page, re.MULTILINE)] == []
    assert "Organise a running league:\n  begin " in page
    assert "-V, --version" in page
    assert "LEAGUE_PLAY_PLAYERS=8" in page


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_says_what_to_type_and_no_more(command: str) -> None:
    page = show_help(command, "--help")
    assert page == show_help("help", command)
    for noise in ("env var", "LEAGUE_", "False", "[ARGS]", "CHOICE [", "None"):
        assert noise not in page.replace("LEAGUE_ID", ""), noise
    narrow = StringIO()
    make_app([command]).help_print([command], console=Console(width=80, file=narrow))
    text = narrow.getvalue().partition("Examples:")[0]
    assert max(map(len, text.splitlines())) <= 80
    usage = page.splitlines()[0]
    arguments = ARGUMENTS.get(command, "")
    assert usage.startswith(f"Usage: league {command}")
    assert arguments in usage
    for name in re.findall(r"[A-Z_]+", arguments):
        assert re.search(rf"^  {name} ", page, re.MULTILINE), name
    assert bool(EXAMPLES.get(command)) == ("Examples:" in page)


def test_every_example_can_be_parsed() -> None:
    for command, lines in EXAMPLES.items():
        for line in lines:
            words = shlex.split(line.partition(" >")[0])[1:]
            assert words[0] == command
            make_app().parse_args(words, exit_on_error=False)


def test_aliases_are_the_same_commands() -> None:
    for name, others in ALIASES.items():
        for other in others:
            assert (
                show_help(other, "--help").splitlines()[2:]
                == (show_help(name, "--help").splitlines()[2:])
            )
    assert set(APPS) <= set(COMMANDS)


def test_the_version_is_printed_in_two_spellings() -> None:
    assert show_help("-V") == show_help("--version")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(shell: str) -> None:
    script = show_help("completion", shell)
    assert all(command in script for command in ("play", "replay-match", "standings"))


WRONG = {
    ("init", "bad id!"): "'bad id!' cannot name a file",
    ("standings", "nope"): "there is no league 'nope' in SHARED",
    ("status", "nonsense"): "there is no league 'nonsense' in SHARED",
    ("player", "nonsense"): "there is no league 'nonsense' in SHARED",
    ("status", "--store", "memory"): "nothing is kept in memory",
    ("log", "http://127.0.0.1:9"): "is an address, and this reads what a folder keeps",
    ("ply",): "there is no command 'ply'",
    ("help", "ply"): "there is no command 'ply'",
    ("play", "--plyers", "4"): "unknown option: --plyers",
    ("play", "--players", "many"): "invalid value for --players",
    ("stats",): "PLAYER is missing",
    ("practice",): "URL is missing",
    ("leagues", "here", "there"): "there are too many arguments: 'here', 'there'",
    ("manager", "--port", "99999"): "for --port. Must be <= 65535",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_a_wrong_command_ends_with_2_in_one_style_and_leaves_nothing(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    done = league(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert WRONG[arguments] in error
    assert hint.startswith("hint: ")
    assert not error.endswith(".")
    assert list(tmp_path.iterdir()) == []


def test_errors_of_usage_are_json_too() -> None:
    done = league("status", "--nope", "--json")
    assert done.returncode == Exit.USAGE
    assert json.loads(done.stdout)["error"]["message"] == "unknown option: --nope"


def test_a_folder_that_cannot_be_used_is_no_fault_of_ours() -> None:
    done = league("play", "--players", "2", "--shared", "/proc/nothing")
    assert done.returncode == Exit.ENVIRONMENT
    assert "error: /proc/nothing" in done.stderr


def test_every_error_in_the_table_exists() -> None:
    app = make_app()
    for command in COMMANDS:  # which imports every error that there is
        app.help_print([command], console=Console(file=StringIO()))

    def list_names(kind: type[BaseException]) -> set[str]:
        return {kind.__name__}.union(*map(list_names, kind.__subclasses__()))

    known = list_names(LeagueError) | {"CycloptsError", "OSError"}
    assert set(_EXITS) <= known


def test_an_option_of_a_command_with_a_hyphen_can_be_set_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LEAGUE_MCP_BRIDGE_LEAGUE", "http://127.0.0.1:9/mcp")
    done = league("mcp-bridge")
    assert done.returncode == Exit.UNREACHABLE
    assert "http://127.0.0.1:9/mcp" in done.stderr


def test_a_league_is_named_by_its_id_its_folder_its_address_or_not_at_all(tmp_path: Path) -> None:
    with running("start", "--port-base", "0", "--referees", "1", cwd=tmp_path) as start:
        url = endpoint(line_with(start, "Registration is open"))
        league_id = document("status", "--json")["league_id"]
        host = url.removeprefix("http://").removesuffix("/mcp")
        for name in (league_id, url, host, str(tmp_path), str(tmp_path / "SHARED")):
            for spelling in ((name,), ("--league", name)):
                assert document("status", *spelling, "--json")["league_id"] == league_id
                assert document("schedule", *spelling, "--json")["rounds"] == []


@pytest.mark.parametrize("option", ["--json", ""])
def test_a_stored_player_has_a_record(tmp_path: Path, option: str) -> None:
    played = league("play", "--players", "2", "--port-base", "0", cwd=tmp_path)
    assert played.returncode == 0
    shown = league("stats", "P01", *filter(None, [option]), cwd=tmp_path)
    assert shown.returncode == 0
    assert "R1M1" in shown.stdout
    assert league("stats", "P77", cwd=tmp_path).returncode == Exit.USAGE


def test_commands_are_printed_as_they_work_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert localise("league play") == "league play"
    monkeypatch.setattr(sys, "argv", ["/x/agent_league/__main__.py"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv/bin/python"))
    monkeypatch.chdir(tmp_path)
    hint = localise("go on with: league resume X; a league of two")
    assert hint == "go on with: .venv/bin/python -m agent_league resume X; a league of two"
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "bin/league")])
    assert name_program() == "bin/league"
    monkeypatch.setattr(sys, "argv", ["/my leagues/bin/league"])
    assert localise("league web") == "'/my leagues/bin/league' web"


def test_players_whom_nothing_separates_are_said_to_be_level(tmp_path: Path) -> None:
    flags = ("--players", "2", "--strategy", "always_even", "--port-base", "0")
    sentence = "P01 and P02 are level in everything; their order is that of their ids."
    assert sentence in league("play", *flags, cwd=tmp_path).stdout
    assert sentence in league("standings", cwd=tmp_path).stdout
