"""A league of several games: each player is matched only in what it declared."""

from collections import Counter
from typing import Any

import msgspec
import pytest

from agent_league.protocol.play import Invitation
from agent_league.season.season import Season
from agent_league.season.snapshots import copy_season, restore_season
from agent_league.store.events import MatchEnded
from league_box import Box, played

GAMES = ("even_odd", "tic_tac_toe", "kuhn_poker")
DECLARED = (
    ("even_odd",),
    ("even_odd", "tic_tac_toe"),
    ("tic_tac_toe", "kuhn_poker"),
    ("kuhn_poker",),
    GAMES,
)


def make_box(**settings: Any) -> Box:
    box = Box(["random"] * len(DECLARED), game_type=GAMES[0], other_games=GAMES[1:], **settings)
    metas = [*(GAMES for _ in box.referees), *DECLARED]
    for member, games in zip(box.members, metas, strict=True):
        member.meta = msgspec.structs.replace(member.meta, game_types=list(games))
    return box


@pytest.mark.parametrize("form", ["round_robin", "double_round_robin"])
def test_each_player_is_matched_only_in_what_it_declared(form: str) -> None:
    box = played(make_box(format=form, legs=2))
    declared = {f"P{n:02}": games for n, games in enumerate(DECLARED, 1)}
    invited = Counter(
        (sent.url.removeprefix("http://").partition("/")[0].upper(), sent.message["game_type"])
        for sent in box.sent(Invitation)
    )
    assert invited
    assert [who for (who, game) in invited if game not in declared[who]] == []
    met = {frozenset((one.first, one.second)) for one in box.season.matches.values()}
    assert frozenset(("P01", "P04")) not in met  # they have no game in common
    assert {one.result.termination for one in box.happened(MatchEnded)} == {"completed"}


def test_two_who_have_several_games_in_common_play_them_in_turn() -> None:
    season = played(make_box(legs=2)).season
    games = [
        match.game_type
        for number in range(1, season.total_rounds + 1)
        for match in season.pairings(number)
        if {match.first, match.second} == {"P02", "P05"}
    ]
    assert set(games) == {"even_odd", "tic_tac_toe"}


def test_a_snapshot_keeps_what_is_played() -> None:
    season = played(make_box()).season
    restored = Season(season.settings)
    assert restore_season(restored, copy_season(season).encode())
    for number in range(1, season.total_rounds + 1):
        ids = [(one.match_id, one.game_type) for one in season.pairings(number)]
        assert [(one.match_id, one.game_type) for one in restored.pairings(number)] == ids


def test_a_player_with_none_of_the_games_is_refused() -> None:
    box = Box(["random", "random"], game_type="kuhn_poker", other_games=("prisoners_dilemma",))
    with pytest.raises(Exception, match="this league plays kuhn_poker, prisoners_dilemma"):
        played(box)
