"""The SDK of document 001, by its name and with its modules."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import agent_league.files
import league_sdk

MODULES = {
    "config_models": "SystemConfig",
    "config_loader": "ConfigLoader",
    "repositories": "StandingsRepository",
    "logger": "JsonLogger",
}


def test_the_sdk_has_every_name_of_the_files() -> None:
    assert set(league_sdk.__all__) == set(agent_league.files.__all__)
    assert league_sdk.JsonLogger is agent_league.files.JsonLogger


@pytest.mark.parametrize(("module", "name"), MODULES.items())
def test_the_sdk_has_the_modules_of_the_document(module: str, name: str) -> None:
    found = importlib.import_module(f"league_sdk.{module}")
    assert getattr(found, name) is getattr(league_sdk, name)


def test_what_an_agent_logs_survives_its_sudden_death(tmp_path: Path) -> None:
    program = (
        "import os, pathlib; from league_sdk import JsonLogger;"
        "JsonLogger('P01', log_root=pathlib.Path(os.environ['ROOT'])).info('HERE'); os._exit(1)"
    )
    environment = {"ROOT": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=False, timeout=60)
    (line,) = (tmp_path / "agents/P01.log.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["event_type"] == "HERE"
