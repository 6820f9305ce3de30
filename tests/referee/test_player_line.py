import asyncio

import pytest

from agent_league.games.even_odd import EvenOdd
from agent_league.vocabulary import Json
from arena import Arena
from timewarp import run


def test_a_game_that_fails_ends_its_match_and_not_the_referee(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def forget(game: EvenOdd, raw: Json) -> Json:
        raise LookupError("this game has a bug")

    async def scenario() -> None:
        arena = Arena()
        with monkeypatch.context() as patch:
            patch.setattr(EvenOdd, "read_move", forget)
            assert (await arena.start()).status == "ACCEPTED"
            await asyncio.sleep(1)
        assert arena.referee.about()["matches"] == 0
        await arena.play(match_id="R1M2")
        assert arena.report["match_id"] == "R1M2"

    run(scenario())
    assert "this game has a bug" in caplog.text
