"""Rules, the text they are taken from, the agents they catch and the page: tied both ways."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_league.check import RULES
from agent_league.protocol import MESSAGES, Role
from agent_league.protocol.requirements import SECTIONS, rules
from check import crooked_manager, crooked_player, crooked_referee

CAUGHT: Mapping[Role, Mapping[str, Any]] = {
    Role.PLAYER: crooked_player.CROOKED,
    Role.REFEREE: crooked_referee.CROOKED,
    Role.LEAGUE: crooked_manager.CROOKED,
}
HEADINGS = (Path(__file__).parent / "headings.txt").read_text(encoding="utf-8").splitlines()
PAGE = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
OURS = {"START_MATCH", "START_MATCH_RESPONSE", "GAME_MOVE_CALL", "GAME_MOVE_RESPONSE"}


def test_no_two_rules_have_one_id() -> None:
    assert [name for name, times in Counter(r.id for r in RULES).items() if times > 1] == []
    assert [rule.id for rule in RULES if not re.fullmatch(r"[a-z]+(\.[a-z-]+)+", rule.id)] == []


@pytest.mark.parametrize("role", list(Role))
def test_every_rule_has_an_agent_that_it_catches_and_every_such_agent_a_rule(role: Role) -> None:
    assert set(CAUGHT[role]) == {rule.id for rule in RULES if role in rule.roles}


def test_every_requirement_names_its_section_and_every_section_has_a_requirement() -> None:
    noted = {requirement.section for requirement in rules.RULES.values()}
    assert noted | {rule.requirement.section for rule in RULES} == set(SECTIONS)


def test_a_section_is_a_heading_of_its_document() -> None:
    for section, title in SECTIONS.items():
        document, _, place = section.partition(" ")
        headings = [line.partition(" ")[2] for line in HEADINGS if line.startswith(document)]
        number = re.compile(rf"(^| ){re.escape(place)}\b")
        assert any(number.search(heading) for heading in headings), section
        assert any(title.rpartition(", ")[2] in heading for heading in headings), section


def test_every_message_of_the_specification_is_asked_for_or_sent_by_some_rule() -> None:
    texts = " ".join(f"{r.demand} {r.fix} {r.source}" for r in (rule.requirement for rule in RULES))
    spoken = {name for name in MESSAGES if name not in OURS and "TRANSCRIPT" not in name}
    assert len(spoken) == 18
    assert {name for name in spoken if name not in texts} == set()


def test_every_rule_is_on_the_page_and_every_rule_of_the_page_exists() -> None:
    listed = re.findall(r"^\| `([a-z][a-z.-]+)` \|", PAGE, re.MULTILINE)
    assert listed == [rule.id for rule in RULES]


def test_every_rule_says_what_it_asks_and_how_to_fix_it() -> None:
    required = [*(rule.requirement for rule in RULES), *rules.RULES.values()]
    assert [r.id for r in required if not r.demand or not r.fix.endswith((".", ")"))] == []
    assert [rule.id for rule in RULES if not rule.roles] == []


def test_what_a_rule_says_is_recorded_of_its_breakers_is_a_known_violation() -> None:
    recorded = {noted.id for rule in RULES for noted in rule.recorded}
    assert recorded - rules.RULES.keys() == set()
