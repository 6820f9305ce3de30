"""Leagues in every format, with real agents, stopped and gone on with."""

import pytest

from agent_league.season.season import Season
from agent_league.season.snapshots import copy_season, restore_season
from agent_league.store.events import MatchEnded, SeasonEnded
from agent_league.tournament.formats import FORMATS
from agent_league.tournament.standings import Table
from agent_league.web.league_view import RankBook
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


@pytest.mark.parametrize("name", FORMATS)
def test_the_champion_is_the_same_everywhere(name: str) -> None:
    box = played(Box(STRATEGIES, format=name, rounds=3))
    season = box.season
    rows = season.standings()
    (end,) = box.happened(SeasonEnded)
    assert end.champion == rows[0].player_id
    assert [row.player for level in season.levels() for row in level] == [
        row.player_id for row in rows
    ]
    if name == "knockout":
        (final,) = season.pairings(season.total_rounds)
        assert {final.first, final.second} == {rows[0].player_id, rows[1].player_id}


def test_who_sits_out_a_swiss_round_gets_the_points_of_a_win() -> None:
    season = played(Box(STRATEGIES, format="swiss", rounds=3)).season
    rounds = [season.pairings(number) for number in (1, 2, 3)]
    byes = [player for matches in rounds for player in season.list_byes(matches)]
    assert len(byes) == len(set(byes)) == 3
    assert [row.played for row in season.standings()] == [3] * 5
    assert sum(row.wins for row in season.standings()) == season.tally["WIN"] + 3
    for row in season.standings():
        assert row.points == 3 * row.wins + row.draws


def test_the_ranks_before_a_round_are_those_of_the_format() -> None:
    season = played(Box(STRATEGIES, format="swiss", rounds=3)).season
    table = Table(season.players, season.settings.scoring)
    for matches in (season.pairings(1), season.pairings(2)):
        for player in season.list_byes(matches):
            table.add_bye(player)
        for match in matches:
            table.add(season.results[match.match_id].result)
    expected = {row.player: rank for rank, row in enumerate(table.ranking(), 1)}
    assert RankBook(season).before(3) == expected


def test_a_round_that_depends_on_results_is_not_known_before() -> None:
    box = Box(STRATEGIES, format="knockout")
    season = played(box).season
    early = Season(season.settings)
    early.players = season.players
    assert early.pairings(1)
    assert early.pairings(2) == []
