"""`league ratings`: how strong the players are, beside their points."""

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from agent_league.cli import league_options as flags
from agent_league.cli.console import make_table, print_document, show
from agent_league.cli.which_league import find_stored
from agent_league.printable import make_printable
from agent_league.running.errors import UsageError
from agent_league.running.folder import SHARED, Folder
from agent_league.season.season import Season
from agent_league.tournament.pairing import Played
from agent_league.tournament.ratings import Rating, Ratings, rate_online, rate_players
from agent_league.vocabulary import PlayerId


def ratings(
    league: flags.League = None,
    *,
    across: flags.Switch = False,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Show how strong the players of a stored league are, whoever they met, and how certain that is.

    Ratings stand beside the points, which decide: Bradley-Terry with draws, on Elo's scale.

    Parameters
    ----------
    across
        All leagues of the folder, in their order; players of the same name count as one. This
        takes the extra ratings.
    """
    folder = Folder(shared, store)
    if across:
        return _print_across(folder, json=json)
    folder, row = find_stored(league, folder)
    season = folder.load_season(row.league_id, whole=True)
    found = rate_players(season.players, _list_played(season))
    return (_print_json if json else _print)(season, found)


def _list_played(season: Season) -> Iterator[Played]:
    """Yield the matches that count; who forfeits loses, and where both do nothing is known of them."""
    for ended in season.results.values():
        first, second = map(PlayerId, ended.players)
        counts = ended.match_id not in season.voided and len(ended.forfeits) < len(ended.players)
        yield Played(first, second, PlayerId(ended.winner) if ended.winner else None, counts)


def _print_json(season: Season, found: Ratings) -> None:
    print_document(
        league_id=season.settings.league_id,
        ratings=[_describe(season, one) for one in found.rows],
        draws=round(found.draws, 4),
        not_significant=[list(pair) for pair in found.uncertain],
    )


def _describe(season: Season, one: Rating) -> dict[str, Any]:
    row = season.row(one.player)
    return {
        "player_id": one.player,
        "display_name": season.roster[one.player].display_name,
        "rating": round(one.value, 1),
        "reach_95": None if one.reach is None else round(one.reach, 1),
        "played": row.played,
        "points": row.points,
    }


def _print(season: Season, found: Ratings) -> None:
    heads = ("P", "Pts", "rating", "95 %")
    ranks = {row.player_id: row.rank for row in season.standings()}
    rows = [
        (
            ranks[one.player],
            season.roster[one.player].display_name,
            one.player,
            season.row(one.player).played,
            season.row(one.player).points,
            f"{one.value:.0f}",
            "-" if one.reach is None else f"± {one.reach:.0f}",
        )
        for one in found.rows
    ]
    show(make_table(("#", "Agent", "Id", *heads), rows, ("#", *heads)))
    for one, other in found.uncertain:
        show(Text(f"The order of {one} and {other} is not significant."), soft_wrap=True)


def _print_across(folder: Folder, *, json: bool) -> None:
    leagues = [row.league_id for row in folder.list_leagues()]
    if not leagues:
        raise UsageError(f"there is no league in {folder.name}", "league play")
    found = rate_online(_list_all(folder, leagues))
    if json:
        rows = [
            {"display_name": one.player, "rating": one.value, "reach_95": one.reach}
            for one in found
        ]
        return print_document(leagues=leagues, ratings=rows)
    lines = [(one.player, f"{one.value:.1f}", f"± {one.reach:.1f}") for one in found]
    show(make_table(("Agent", "rating", "95 %"), lines, ("rating", "95 %")))
    return show(
        Text(make_printable(f"{len(leagues)} leagues: {', '.join(leagues)}")), soft_wrap=True
    )


def _list_all(folder: Folder, leagues: list[str]) -> Iterator[Played]:
    """Yield the matches of all leagues, with the names of the players instead of their ids."""
    for league_id in leagues:
        season = folder.load_season(league_id, whole=True)
        names = {entry.agent_id: PlayerId(entry.display_name) for entry in season.roster.entries()}
        for first, second, winner, counts in _list_played(season):
            yield Played(names[first], names[second], names[winner] if winner else None, counts)
