"""Our player and our referee in the leagues of five third-party implementations."""

import pytest

from strangers.directions import FAMILIES, OURS, visit


@pytest.mark.parametrize("letter", FAMILIES)
def test_our_player_plays_every_match_in_the_league_of_a_family(letter: str) -> None:
    found = visit(FAMILIES[letter], players=["P04"])
    who = OURS if letter == "C" else "P04"  # there the name is the id
    assert found.is_over
    played = found.list_of(who)
    assert {match.outcome for match in played} == {"completed"}
    assert len({match.match_id for match in played}) == 3  # one manager orders some of them twice
    assert {match.choices[who] for match in played} == {"odd"}  # what our player always says


@pytest.mark.parametrize("letter", FAMILIES)
def test_our_referee_plays_every_match_of_the_manager_of_a_family(letter: str) -> None:
    found = visit(FAMILIES[letter], referee=True, theirs=4)
    assert found.is_over
    assert len(found.manager.table.results) == 6
    assert found.manager.problems == []
    assert found.technical_reports == []
