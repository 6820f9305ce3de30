"""The table of rules, what keeps it true, and a taste of `make strangers` in the default suite."""

import re
from pathlib import Path

from agent_league.dialects import RULES
from strangers.test_strange_players import league_of
from strangers.test_strange_referees import COMMON, FORMS
from strangers.troupe import PLAYERS, broken

AGENTS = Path(__file__).parent.parent / "strangers" / "agents"
OTHERS = {"order-form", "query-form", "register-status"}
"""What only referees and managers do; tests/strangers/test_strange_referees.py and test_strange_manager.py."""
NOT_HABITS = {"field-missing", "field-invalid", "protocol-version"}
"""What is wrong beyond understanding; tests/league/test_discipline.py."""


def test_every_rule_is_broken_by_a_stranger() -> None:
    players = {rule for stranger in PLAYERS for rule in stranger.habits}
    shown = (
        players | COMMON | OTHERS | NOT_HABITS | {one for form in FORMS.values() for one in form}
    )
    assert shown == RULES.keys()


def test_a_rule_is_short_and_says_where_it_comes_from() -> None:
    for rule in RULES.values():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.id)
        assert re.match(r"00[0-4] [A-Z0-9]", rule.seed)
        assert rule.expected
        assert rule.mend


def test_no_stranger_knows_our_package() -> None:
    agents = list(AGENTS.glob("*.py"))
    assert len([path for path in agents if path.stem not in {"kit", "whistle"}]) >= 11
    assert [path.name for path in agents if "agent_league" in path.read_text("utf-8")] == []


def test_two_strangers_play_with_each_other_over_http() -> None:
    two = [stranger for stranger in PLAYERS if stranger.name in {"nester", "later"}]
    league = league_of(*two, ours=0)
    (ended,) = league.manager.season.results.values()
    assert ended.termination == "completed"
    assert broken(league) == {stranger.name: stranger.habits for stranger in two}
