"""Imitations of five third-party implementations: their own leagues, and their players in ours."""

import asyncio

import pytest

from agent_league.protocol import Role
from agent_league.store.events import AgentDisqualified
from strangers.directions import FAMILIES, MOST_LINES, find_host, host, running, until
from strangers.families import kit
from timewarp import run_over_sockets

NOTED = {
    "A": {"reply-error-null", "right-refused"},
    "B": {"field-missing"},
    "C": {"frame-missing", "sender-missing", "timestamp-missing", "field-missing"}
    | {"accept-field", "choice-field", "reply-envelope"},
    "D": {"later-answer", "right-refused"},
    "E": {"reply-in-params", "reply-id"},
}
"""What the players of each family do otherwise, as far as a tolerant league meets it."""


@pytest.mark.parametrize("letter", FAMILIES)
def test_a_family_plays_its_own_league(letter: str) -> None:
    module = FAMILIES[letter]

    async def main() -> None:
        book = kit.standard_book(find_host())
        manager, referee = module.Manager(book), module.Referee("REF01", book)
        async with running(manager, referee):
            await until(lambda: manager.referees)
            players = [module.Player(f"P{number:02}", book) for number in (1, 2, 3, 4)]
            async with running(*players):
                await until(lambda: len(manager.players) == 4)
                await manager.begin()
                async with asyncio.timeout(300):
                    await manager.over.wait()
        assert len(manager.table.results) == 6
        assert {match.outcome for match in referee.matches} == {"completed"}

    run_over_sockets(main())


@pytest.mark.parametrize("letter", NOTED)
def test_players_of_a_family_play_in_our_league_without_a_technical_loss(letter: str) -> None:
    hosted = host(FAMILIES[letter])
    assert hosted.terminations == ["completed"] * 6
    assert hosted.technical_losses == 0
    assert hosted.list_noted(Role.PLAYER) == NOTED[letter]
    assert hosted.list_blamed() == set()
    for who in hosted.theirs:
        assert len(hosted.list_screen(who)) <= MOST_LINES


REFUSED = {
    "B": {"field-missing"},
    "C": NOTED["C"] - {"accept-field", "choice-field", "reply-envelope"},
}
OUT = {
    "A": "right-refused: -32602 Sender not registered",
    "D": "right-refused: -32603 2 validation errors for RoundAnnouncement",
    "E": "reply-in-params: an answer with id, jsonrpc, method, params",
}


@pytest.mark.parametrize("letter", REFUSED)
def test_a_strict_league_does_not_admit_who_registers_in_its_own_way(letter: str) -> None:
    hosted = host(FAMILIES[letter], strictness="strict")
    assert hosted.theirs == set()
    assert set(hosted.refusals) == REFUSED[letter]
    (refused,) = [line for line in hosted.warnings if "is refused" in line]
    assert "hint:" in refused
    assert hosted.terminations == ["completed"]
    assert hosted.list_blamed() == set()


@pytest.mark.parametrize("letter", OUT)
def test_a_strict_league_disqualifies_a_family_for_what_it_really_does(letter: str) -> None:
    hosted = host(FAMILIES[letter], strictness="strict")
    events = [e for e in hosted.league.events if isinstance(e, AgentDisqualified)]
    assert {event.agent_id for event in events} == hosted.theirs
    assert all(event.why.startswith(OUT[letter]) for event in events)
    assert hosted.list_blamed() == set()
    for who in hosted.theirs:
        assert len(hosted.list_screen(who)) <= MOST_LINES


OTHER_IDS = {"D": {"player-id-other"}, "E": {"player-id-other"}}


@pytest.mark.parametrize("letter", NOTED)
def test_players_that_keep_the_id_of_another_player_are_told_apart(letter: str) -> None:
    """Two of ours are P01 and P02 already, as the players of the family call themselves."""
    hosted = host(FAMILIES[letter], earlier=2, ours=0)
    assert hosted.terminations == ["completed"] * 6
    assert hosted.technical_losses == 0
    assert hosted.list_noted(Role.PLAYER) == NOTED[letter] | OTHER_IDS.get(letter, set())
    assert hosted.list_blamed() == set()


def test_all_families_and_ours_play_one_league_of_twelve() -> None:
    hosted = host(*FAMILIES.values(), each=2, ours=2)
    assert hosted.terminations == ["completed"] * 66
    assert hosted.technical_losses == 0
    assert hosted.list_noted(Role.PLAYER) == set().union(*NOTED.values())
    assert hosted.list_blamed() == set()
    for who in hosted.theirs:
        assert len(hosted.list_screen(who)) <= MOST_LINES
