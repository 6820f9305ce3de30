"""Players that want the table less often, or less of it, and read it when they need it."""

import pytest

from agent_league.league.table_updates import cut_rows
from agent_league.player import Player, load_brain
from agent_league.protocol.rounds import FinalStanding
from agent_league.serving.site import make_site
from league.test_everybody_is_told import FOUR, list_notices
from league_box import LEAGUE_URL, Box, player_meta, player_url
from timewarp import clock, run

TABLE, END = "LEAGUE_STANDINGS_UPDATE", "LEAGUE_COMPLETED"


def play_with(wish: str | None) -> Box:
    """Play a league of five, of which P09 has this wish."""
    box = Box(FOUR, guests=1)
    changes = {"standings_updates": wish} if wish else {}
    meta = player_meta(player_url(9), **changes)
    player = Player("P09", box.net, LEAGUE_URL, meta=meta, brain=load_brain("random"), clock=clock)
    box.players.append(player)
    box.net.host(player_url(9), make_site(player))
    run(box.play())
    return box


@pytest.mark.parametrize("wish", [None, "all"])
def test_without_a_wish_a_player_gets_what_all_get(wish: str | None) -> None:
    box = play_with(wish)
    tables = list_notices(box, player_url(9), TABLE)
    assert tables
    assert {len(table["standings"]) for table in tables} == {5}
    (end,) = list_notices(box, player_url(9), END)
    assert len(end["final_standings"]) == 5


def test_a_player_that_reads_the_table_itself_is_sent_none() -> None:
    box = play_with("none")
    assert list_notices(box, player_url(9), TABLE) == []
    assert list_notices(box, player_url(1), TABLE)
    (end,) = list_notices(box, player_url(9), END)
    assert "P09" in [row["player_id"] for row in end["final_standings"]]


def test_a_player_may_get_the_table_after_each_round() -> None:
    box = play_with("round")
    tables = list_notices(box, player_url(9), TABLE)
    assert 1 <= len(tables) <= box.season.total_rounds
    assert {len(table["standings"]) for table in tables} == {5}
    assert tables[-1]["round_id"] == box.season.total_rounds


def test_a_player_may_get_only_its_neighbours() -> None:
    box = play_with("neighbours")
    tables = list_notices(box, player_url(9), TABLE)
    assert tables
    for table in tables:
        ranks = [row["rank"] for row in table["standings"]]
        own = next(row["rank"] for row in table["standings"] if row["player_id"] == "P09")
        assert ranks == [rank for rank in range(1, 6) if abs(rank - own) <= 2]


def test_the_rows_near_a_player_are_at_most_five() -> None:
    rows = [FinalStanding(rank=n, player_id=f"P{n}", points=0) for n in range(1, 101)]
    cut = dict(cut_rows(rows, ["P1", "P50", "P100", "nobody"]))
    shown = {player: [row.rank for row in near] for player, near in cut.items()}
    assert shown == {"P1": [1, 2, 3], "P50": [48, 49, 50, 51, 52], "P100": [98, 99, 100]}
