"""A Swiss of 200 players: eight rounds, nobody meets the same player twice."""

from tournament.test_other_formats import check_swiss


def test_swiss_pairs_200_players_for_8_rounds_and_nobody_twice() -> None:
    check_swiss(200, 8)
