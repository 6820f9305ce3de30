"""The table of rules, what keeps it true, and two third-party agents that break some."""

import re
from pathlib import Path

import pytest

from agent_league.protocol.requirements import SECTIONS
from agent_league.protocol.requirements.rules import RULES
from strangers.test_strange_players import league_of
from strangers.test_strange_referees import COMMON, FORMS
from strangers.third_party import PLAYERS, broken

AGENTS = Path(__file__).parent.parent / "strangers" / "agents"
OTHERS = {"order-form", "query-form", "register-status", "result-in-answer"}
"""What only referees and managers do; tests/strangers/test_strange_referees.py and test_strange_manager.py."""
NOT_DEVIATIONS = {"field-missing", "field-invalid", "protocol-version"}
"""What is wrong beyond understanding; tests/league/test_discipline.py."""


def test_every_rule_is_broken_by_a_third_party_agent() -> None:
    players = {rule for agent in PLAYERS for rule in agent.deviations}
    shown = (
        players
        | COMMON
        | OTHERS
        | NOT_DEVIATIONS
        | {one for form in FORMS.values() for one in form}
    )
    assert shown == RULES.keys()


def test_a_rule_is_short_and_says_where_it_comes_from() -> None:
    for rule in RULES.values():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.id)
        assert rule.section in SECTIONS
        assert rule.demand
        assert rule.fix


def test_no_third_party_agent_knows_our_package() -> None:
    agents = list(AGENTS.glob("*.py"))
    assert len([path for path in agents if path.stem not in {"kit", "whistle"}]) >= 11
    assert [path.name for path in agents if "agent_league" in path.read_text("utf-8")] == []


@pytest.mark.processes
def test_two_third_party_agents_play_with_each_other_over_http() -> None:
    two = [agent for agent in PLAYERS if agent.name in {"nester", "later"}]
    league = league_of(*two, ours=0)
    (ended,) = league.manager.season.results.values()
    assert ended.termination == "completed"
    assert broken(league) == {agent.name: agent.deviations for agent in two}
