"""The imitations of five third-party implementations play with us in every direction."""

import asyncio

import pytest

from strangers.directions import FAMILIES, find_host, host, running, until, visit
from strangers.families import kit
from timewarp import run_over_sockets


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


@pytest.mark.parametrize("letter", ["A", "E"])
def test_players_of_a_family_play_in_our_league_without_a_technical_loss(letter: str) -> None:
    hosted = host(FAMILIES[letter])
    assert hosted.terminations == ["completed"] * 6
    assert hosted.technical_losses == 0
    assert hosted.list_blamed() == set()


@pytest.mark.parametrize("letter", ["A"])
def test_our_player_plays_every_match_in_the_league_of_a_family(letter: str) -> None:
    found = visit(FAMILIES[letter], players=["P04"])
    assert found.is_over
    assert [match.outcome for match in found.list_of("P04")] == ["completed"] * 3
    assert {match.choices["P04"] for match in found.list_of("P04")} == {"odd"}
