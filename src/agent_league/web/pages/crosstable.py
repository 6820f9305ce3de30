"""Everybody against everybody."""

from collections import defaultdict

from agent_league.web.league_view import Data, LeagueView, list_matches
from agent_league.web.page import Arguments, Page

LARGE = 26
"""From so many players on, the cells are small and have no names above them."""


async def load(view: LeagueView, arguments: Arguments) -> Data:
    season, names = view.season, view.names()
    cells: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for line in list_matches(season):
        if line.status == "SCHEDULED":
            continue
        for player in (line.match.first, line.match.second):
            mark = line.mark_for(player)
            cells[player, line.rival_of(player)].append((line.match.match_id, mark))
    table = season.standings()
    order = [row.player_id for row in table]
    return {
        "players": [
            {
                "id": one.player_id,
                "name": names[one.player_id],
                "rank": one.rank,
                "points": one.points,
            }
            for one in table
        ],
        "rows": [
            {
                "id": row.player_id,
                "name": names[row.player_id],
                "rank": row.rank,
                "points": row.points,
                "cells": [cells.get((row.player_id, rival), []) for rival in order],
            }
            for row in table
        ],
        "is_large": len(order) >= LARGE,
    }


page = Page("/crosstable", "crosstable.html", "Crosstable", load, menu=(3, "Crosstable"))
