"""The log: a line for each entry, no secret in it, and no end to the league because of it."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.files import ConfigError, JsonLogger, JsonLogHandler, UnsafeIdError
from agent_league.files import logger as module
from agent_league.files.logger import REDACTED, FileAgentLog, _encode, _redact
from agent_league.protocol import tokens

NOON = datetime(2025, 1, 15, 12, tzinfo=UTC)


@pytest.fixture
def logger(tmp_path: Path) -> Iterator[JsonLogger]:
    with JsonLogger("REF01", log_root=tmp_path, clock=lambda: NOON) as made:
        yield made


def lines(logger: JsonLogger) -> list[dict[str, Any]]:
    logger.flush()
    return [json.loads(line) for line in logger.log_file.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("component", "league_id", "path"),
    [
        ("league", "cup", "league/cup/league.log.jsonl"),
        ("REF01", None, "agents/REF01.log.jsonl"),
        ("P01", None, "agents/P01.log.jsonl"),
        ("orchestrator", None, "system/orchestrator.log.jsonl"),
    ],
)
def test_every_component_has_its_place_in_the_tree(
    component: str, league_id: str | None, path: str, tmp_path: Path
) -> None:
    logger = JsonLogger(component, league_id, tmp_path)
    logger.warning("STARTED")
    assert logger.log_file == tmp_path / path
    assert logger.log_file.exists()


@pytest.mark.parametrize(("component", "league_id"), [("../P01", None), ("league", "a/b")])
def test_a_log_cannot_be_kept_elsewhere(
    component: str, league_id: str | None, tmp_path: Path
) -> None:
    with pytest.raises(UnsafeIdError):
        JsonLogger(component, league_id, tmp_path)


def test_a_folder_that_cannot_be_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "agents").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="no log can be kept here"):
        JsonLogger("P01", log_root=tmp_path)


def test_an_entry_begins_with_the_keys_of_the_example(logger: JsonLogger) -> None:
    logger.info("MATCH_STARTED", match_id="R1M1")
    (entry,) = lines(logger)
    assert list(entry.items()) == [
        ("timestamp", "2025-01-15T12:00:00.000Z"),
        ("component", "REF01"),
        ("event_type", "MATCH_STARTED"),
        ("level", "INFO"),
        ("match_id", "R1M1"),
    ]


def test_every_level_has_its_method_and_its_name(logger: JsonLogger) -> None:
    for say in (logger.debug, logger.info, logger.warning, logger.error):
        say("X")
    logger.log("X", level="WARN")
    levels = [entry["level"] for entry in lines(logger)]
    assert levels == ["DEBUG", "INFO", "WARNING", "ERROR", "WARNING"]


def test_a_detail_cannot_pass_for_what_the_logger_says(logger: JsonLogger) -> None:
    logger.info("X", timestamp="never", component="someone else")
    (entry,) = lines(logger)
    assert (entry["component"], entry["_component"]) == ("REF01", "someone else")
    assert (entry["timestamp"][:4], entry["_timestamp"]) == ("2025", "never")


def test_secrets_are_left_out_at_any_depth(logger: JsonLogger) -> None:
    @dataclass
    class Held:
        token: str

    deep = [{"params": {"auth_token": "a-secret"}}, ({"Ticket": ["a-secret"]},), Held("a-secret")]
    logger.info("X", auth_token="a-secret", deep=deep, match_ticket="a-secret", tokens=3)
    (entry,) = lines(logger)
    assert "a-secret" not in json.dumps(entry)
    assert (entry["auth_token"], entry["tokens"]) == (REDACTED, 3)


def test_a_token_in_a_sentence_is_left_out_too(logger: JsonLogger) -> None:
    token, ticket = tokens.new_token("P01"), tokens.new_ticket()
    logger.info("X", message=f"refused {token}, and {ticket}: unknown", **{token: 1})
    (entry,) = lines(logger)
    assert entry["message"] == f"refused {REDACTED}, and {REDACTED}: unknown"
    assert token not in json.dumps(entry)


def test_half_a_surrogate_pair_is_written_in_ascii(logger: JsonLogger) -> None:
    logger.info("X", name="half \ud800", whole="\U0001f600 é")
    (entry,) = lines(logger)
    assert entry["name"] == "half \ud800"
    assert entry["whole"] == "\U0001f600 é"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(codec=None)), json_values))
def test_whatever_the_details_an_entry_is_one_line_of_json(details: dict[str, Any]) -> None:
    line = _encode(_redact(details))
    assert b"\n" not in line
    assert isinstance(json.loads(line), dict)


def test_what_is_not_json_is_shown_as_python_shows_it(logger: JsonLogger) -> None:
    endless: list[Any] = []
    endless.append(endless)
    logger.info("X", path=Path("a"), when=NOON, error=ValueError("no"), seats={1})
    logger.info("X", endless=endless)
    first, second = lines(logger)
    assert first["path"] == "PosixPath('a')"
    assert (first["error"], first["seats"]) == ("ValueError('no')", [1])
    assert second["unreadable"].startswith("RecursionError")


def test_an_entry_is_on_disk_at_once(logger: JsonLogger) -> None:
    for number, level in enumerate(JsonLogger.LEVELS, 1):
        logger.log("HERE", level)
        assert len(logger.log_file.read_bytes().splitlines()) == number


def test_a_buffered_entry_waits_for_its_owner_unless_it_is_a_warning(tmp_path: Path) -> None:
    with JsonLogger("REF01", log_root=tmp_path, buffered=True) as logger:
        logger.info("HERE")
        assert not logger.log_file.exists()
        logger.warning("HERE")
        assert len(logger.log_file.read_bytes().splitlines()) == 2


@pytest.mark.parametrize("level", ["WARNING", "ERROR", "WARN", "error"])
def test_a_warning_is_written_at_once_with_all_before_it(level: str, logger: JsonLogger) -> None:
    logger.info("ONE")
    logger.log("TWO", level=level)
    assert logger.log_file.read_bytes().count(b"\n") == 2


def test_much_is_written_at_once(logger: JsonLogger) -> None:
    logger.info("LARGE", text="x" * module.BUFFER_SIZE)
    assert logger.log_file.exists()


def test_closing_writes_what_is_left(tmp_path: Path) -> None:
    with JsonLogger("P01", log_root=tmp_path) as logger:
        logger.debug("LAST")
    assert lines(logger)[0]["event_type"] == "LAST"


def test_a_program_that_ends_writes_what_is_left(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from agent_league.files import JsonLogger; "
        f"JsonLogger('P01', log_root=Path({str(tmp_path)!r})).info('LAST')"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert b'"LAST"' in (tmp_path / "agents/P01.log.jsonl").read_bytes()


def test_a_log_that_is_too_large_makes_room_once(tmp_path: Path) -> None:
    logger = JsonLogger("P01", log_root=tmp_path, max_bytes=1000)
    for number in range(20):
        logger.error("X", number=number, text="x" * 200)
    old = logger.log_file.with_name("P01.log.jsonl.1")
    assert sorted(path.name for path in logger.log_file.parent.iterdir()) == [
        "P01.log.jsonl",
        "P01.log.jsonl.1",
    ]
    kept = [*old.read_bytes().splitlines(), *logger.log_file.read_bytes().splitlines()]
    numbers = [json.loads(line)["number"] for line in kept]
    assert numbers == list(range(20))[-len(numbers) :]
    assert max(old.stat().st_size, logger.log_file.stat().st_size) <= 1000


def test_a_full_disk_costs_entries_and_the_log_says_how_many(
    logger: JsonLogger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> NoReturn:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "open", full)
        logger.error("LOST")
        logger.error("LOST TOO")
    logger.error("KEPT")
    lost, kept = lines(logger)
    assert (lost["event_type"], lost["entries"]) == ("LOG_ENTRIES_LOST", 2)
    assert kept["event_type"] == "KEPT"


def test_a_line_that_was_cut_short_does_not_spoil_the_next(logger: JsonLogger) -> None:
    logger.log_file.write_bytes(b'{"timestamp": "2025')
    logger.error("NEXT")
    torn, whole = logger.log_file.read_bytes().splitlines()
    assert torn == b'{"timestamp": "2025'
    assert json.loads(whole)["event_type"] == "NEXT"


@pytest.fixture
def ours(logger: JsonLogger) -> Iterator[logging.Logger]:
    """Return the logger of this package, with its records going into *logger*."""
    made, handler = logging.getLogger("agent_league"), JsonLogHandler(logger)
    before = made.level
    made.addHandler(handler)
    made.setLevel(logging.DEBUG)
    yield made
    made.removeHandler(handler)
    made.setLevel(before)
    handler.close()


def test_what_is_said_to_logging_is_logged(ours: logging.Logger, logger: JsonLogger) -> None:
    ours.debug("quiet")
    ours.info("refused %s", "P01")
    ours.warning("lost %s", tokens.new_token("P01"), extra={"event_type": "AGENT_LOST"})
    ours.critical("the end")
    first, second, third, last = lines(logger)
    assert first["level"] == "DEBUG"
    assert (second["event_type"], second["message"]) == ("LOG", "refused P01")
    assert (second["level"], second["logger"]) == ("INFO", "agent_league")
    assert (third["event_type"], third["message"]) == ("AGENT_LOST", f"lost {REDACTED}")
    assert last["level"] == "ERROR"


def test_an_exception_comes_with_its_traceback(ours: logging.Logger, logger: JsonLogger) -> None:
    try:
        int("no")
    except ValueError:
        ours.exception("failed")
    (entry,) = lines(logger)
    assert entry["traceback"].splitlines()[-1].startswith("ValueError: invalid literal")


def test_a_sentence_that_does_not_fit_its_arguments_ends_nothing(
    ours: logging.Logger, logger: JsonLogger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    ours.warning("%d", "not a number")
    ours.warning("after")
    assert [entry["message"] for entry in lines(logger)] == ["after"]


def test_an_agent_whose_league_gives_it_a_name_that_names_no_file_keeps_its_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agent_log = FileAgentLog("P04", tmp_path, buffered=False)
    agent_log.set_owner("../Our player")
    agent_log.note("REGISTERED")
    agent_log.close()
    (written,) = tmp_path.rglob("*.jsonl")
    assert "REGISTERED" in written.read_text(encoding="utf-8")
    assert "P04" in written.name
    assert not caplog.messages
