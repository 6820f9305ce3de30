"""Every game of the catalogue keeps the laws. A new file in games/ is tested here as it is."""

from collections.abc import Callable

import pytest

from agent_league.game import GAMES, AnyGame
from games.laws import LAWS, playthrough
from golden_files import Golden


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_every_game_keeps_the_law(name: str, law: Callable[[AnyGame], None]) -> None:
    law(GAMES[name])


@pytest.mark.parametrize("name", GAMES)
def test_a_seed_plays_the_game_that_it_always_played(name: str, golden: Golden) -> None:
    game = GAMES[name]
    *played, (final, _) = playthrough(game, seed=7)
    outcome = game.outcome(final)
    assert outcome is not None
    golden(
        f"playthroughs/{name}.json",
        {
            "moves": [{str(seat): move for seat, move in moves.items()} for _, moves in played],
            "winner": outcome.winner,
            "reason": outcome.reason,
            "record": game.record(final),
        },
    )
