"""Leagues in every format, with real agents, stopped and gone on with."""

import pytest

from agent_league.season.season import Season
from agent_league.season.snapshots import copy_season, restore_season
from agent_league.store.events import MatchEnded
from agent_league.tournament.formats import FORMATS
from league_box import Box, played

STRATEGIES = ["random", "markov", "mirror", "frequency", "always_even"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_league_is_played_in_every_format(name: str) -> None:
    box = played(Box(STRATEGIES, format=name, rounds=3))
    season = box.season
    rounds = [season.pairings(number) for number in range(1, season.total_rounds + 1)]
    assert all(rounds)
    assert season.played == sum(map(len, rounds)) == season.total_matches
    ended = box.happened(MatchEnded)
    assert {one.result.termination for one in ended} == {"completed"}


@pytest.mark.parametrize("name", ["knockout", "swiss", "ladder"])
def test_a_snapshot_keeps_who_met_whom(name: str) -> None:
    season = played(Box(STRATEGIES, format=name, rounds=3)).season
    restored = Season(season.settings)
    assert restore_season(restored, copy_season(season).encode())
    restored.forget_past()
    for number in range(1, season.total_rounds + 1):
        ids = [(one.match_id, one.first, one.second) for one in season.pairings(number)]
        assert [(m.match_id, m.first, m.second) for m in restored.pairings(number)] == ids
        for match_id, *_ in ids:
            found, before = restored.find_result(match_id), season.find_result(match_id)
            assert found is not None
            assert before is not None
            assert found.winner == before.winner


def test_a_round_that_depends_on_results_is_not_known_before() -> None:
    box = Box(STRATEGIES, format="knockout")
    season = played(box).season
    early = Season(season.settings)
    early.players = season.players
    assert early.pairings(1)
    assert early.pairings(2) == []
