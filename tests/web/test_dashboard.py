"""The dashboard for Grafana asks only for what a manager tells."""

import asyncio
import json
import re
from collections import deque
from pathlib import Path

from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.web.league_view import LeagueView
from agent_league.web.metrics import LeagueMetrics
from agent_league.web.records import RememberedRecords

DASHBOARD = Path(__file__).parents[2] / "docs" / "monitoring" / "grafana.json"


def test_every_panel_shows_a_metric_that_there_is() -> None:
    season = Season(LeagueSettings(seed="7"))
    view = LeagueView(season, RememberedRecords(season))
    told = asyncio.run(LeagueMetrics(view, deque()).show()).body.decode()
    known = set(re.findall(r"^# TYPE (\w+)", told, re.MULTILINE))
    known |= {f"{name}_bucket" for name in known}
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    asked = {name for one in panels for name in re.findall(r"league_\w+", str(one["targets"]))}
    assert asked
    assert asked - known == set()
