"""Referees of third-party implementations under our manager, with their players and with ours."""

import pytest

from agent_league.protocol import Role
from strangers.directions import FAMILIES, MOST_LINES, refereed

NOTED = {
    "A": {"order-form", "report-form", "report-ticket"},
    "B": {"order-form", "report-ticket"},
    "C": {"order-form", "result-in-answer", "frame-missing", "sender-missing"}
    | {"timestamp-missing", "field-missing"},
    "D": {"order-form", "field-missing"},
}
"""What the referee of each family does otherwise, as far as a tolerant league meets it."""


@pytest.mark.parametrize("theirs", [4, 2, 0])
@pytest.mark.parametrize("letter", NOTED)
def test_a_referee_of_a_family_plays_every_match_of_our_league(letter: str, theirs: int) -> None:
    hosted = refereed(FAMILIES[letter], theirs=theirs, ours=4 - theirs)
    assert hosted.terminations == ["completed"] * 6
    assert hosted.technical_losses == 0
    assert hosted.list_noted(Role.REFEREE) == NOTED[letter]
    assert hosted.list_blamed() == set()
    for who in hosted.theirs:
        assert len(hosted.list_screen(who)) <= MOST_LINES


def test_the_operator_is_told_once_why_a_referee_without_any_proof_is_not_used() -> None:
    """Its reports carry nothing that only the referee could know, so anybody could have sent them."""
    hosted = refereed(FAMILIES["E"], ends=False)
    assert hosted.terminations == []
    unproven, suspended = hosted.list_screen("REF01")
    assert "REF01 reports without proof" in unproven
    assert "hint: it must send the auth_token" in unproven
    assert "it gets no match until it registers again" in suspended
    assert sum("no referee takes matches" in line for line in hosted.warnings) == 1


STRICTLY = {letter: {"order-form"} for letter in "ABDE"}
STRICTLY["A"] = {"order-form", "right-refused"}


@pytest.mark.parametrize("letter", STRICTLY)
def test_a_strict_league_says_once_that_a_referee_does_not_know_its_orders(letter: str) -> None:
    hosted = refereed(FAMILIES[letter], theirs=0, ours=4, strictness="strict", ends=False)
    (suspended,) = hosted.list_screen("REF01")
    assert "does not take matches" in suspended
    assert "it gets no match until it registers again" in suspended
    assert hosted.list_noted(Role.REFEREE) == STRICTLY[letter]
    assert sum("no referee takes matches" in line for line in hosted.warnings) == 1


def test_a_strict_league_does_not_admit_a_referee_that_registers_by_an_address_of_its_own() -> None:
    hosted = refereed(FAMILIES["C"], theirs=0, ours=4, strictness="strict", ends=False)
    assert hosted.theirs == set()
    assert set(hosted.refusals) == NOTED["C"] - {"order-form", "result-in-answer"}
    (refused,) = [line for line in hosted.warnings if "is refused" in line]
    assert "frame-missing" in refused
