"""What third parties write never controls a terminal, and is in no log as it came."""

import io
import json
import logging
import re
from pathlib import Path

import pytest

from agent_league.agent_log import AgentLog
from agent_league.cli.console import make_table, print_json, show
from agent_league.cli.exit_codes import report_error
from agent_league.cli.screens import PlainScreen, format_agent_event
from agent_league.files.logger import JsonLogger
from agent_league.league.admission import Refusal, judge
from agent_league.printable import make_printable
from agent_league.protocol import LeagueError
from agent_league.protocol.explain import preview
from agent_league.protocol.registration import RegisterPlayer
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AgentSuspended
from league_box import player_meta
from protocol.samples import BY_PLAYER
from timewarp import EPOCH

EVIL = "\x1b]0;owned\x07 \x9b2J \x7f \u202egnp.exe \u2066 end"
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_every_character_that_controls_a_terminal_is_written_as_an_escape() -> None:
    assert make_printable("a\x1b[2Jb\x9bc\u202ed") == "a\\u001b[2Jb\\u009bc\\u202ed"
    assert make_printable("a\nb", keep="\n") == "a\nb"
    assert make_printable("Ada \u05e9\u05dc\u05d5\u05dd \U0001f3b2 é") == "Ada שלום 🎲 é"


def test_json_that_is_made_printable_is_the_same_json() -> None:
    text = json.dumps({"name": EVIL}, ensure_ascii=False)
    assert json.loads(make_printable(text)) == {"name": EVIL}


@pytest.mark.parametrize("char", ["\x1b", "\x9b", "\t", "\n", " ", "\u202e", "\x00"])
def test_an_endpoint_with_a_control_character_is_refused(char: str) -> None:
    meta = player_meta(f"http://127.0.0.1:8101/mcp{char}x")
    request = RegisterPlayer(**BY_PLAYER, player_meta=meta)
    decision = judge(request, Season(LeagueSettings(seed="7")), EPOCH)
    assert isinstance(decision, Refusal)
    assert "spaces or control characters" in decision.reason
    assert not RAW.search(decision.reason)


def test_no_screen_and_no_table_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    event = AgentSuspended(at="", agent_id="P01", why=EVIL)
    assert EVIL in str(format_agent_event(event))
    screen = PlainScreen()
    screen._season = Season(LeagueSettings(seed="7"))
    screen.on_event(event)
    show(make_table(("Agent",), [(EVIL,)]))
    print_json({"name": EVIL})
    report_error(LeagueError(f"cannot reach {EVIL}"))
    shown = capsys.readouterr()
    assert "owned" in shown.err
    assert "owned" in shown.out
    assert not RAW.search(shown.out + shown.err)


def test_no_warning_shows_them() -> None:
    stream, log = io.StringIO(), logging.getLogger("agent_league")
    handler = logging.StreamHandler(stream)
    log.addHandler(handler)
    try:
        AgentLog().warn("TEST", f"100 % of {EVIL}")
        log.warning("%s said %s", "P01", EVIL)
    finally:
        log.removeHandler(handler)
    assert stream.getvalue().count("owned") == 2
    assert not RAW.search(stream.getvalue())


def test_no_log_file_holds_them(tmp_path: Path) -> None:
    with JsonLogger("P01", log_root=tmp_path) as logger:
        logger.info("TEST", text=EVIL, **{EVIL: 1})
        logger.info("TEST", text="\x7f")
    text = logger.log_file.read_text(encoding="utf-8")
    assert not RAW.search(text)
    entries = [json.loads(line) for line in text.splitlines()]
    assert [entry["text"] for entry in entries] == [EVIL, "\x7f"]


def test_no_error_about_a_message_shows_them() -> None:
    assert not RAW.search(preview(EVIL))
