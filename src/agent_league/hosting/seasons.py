"""Competitions with divisions: the leagues of the next season, from the final tables of the last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from agent_league.chance import new_seed
from agent_league.hosting.terms import SeasonTerms, make_settings
from agent_league.protocol import Role
from agent_league.running.errors import UsageError
from agent_league.running.lineup import ConfigFiles
from agent_league.season.roster import Lifecycle
from agent_league.season.settings import Division, LeagueSettings
from agent_league.season.snapshots import load_season
from agent_league.store.store import Store
from agent_league.tournament.divisions import Divisions, draw_divisions, plan_season

DEFAULT_MOVERS = 1
_SETTINGS_OF: Mapping[str, Sequence[str]] = {
    "game": ("game_type", "other_games", "options"),
    "option": ("options",),
    "format": ("format",),
    "legs": ("legs",),
    "rounds": ("rounds",),
    "overlap_rounds": ("overlap_rounds",),
    "players": ("awaited_players",),
    "max_players": ("max_players",),
    "class_league": ("strictness", "protocols", "announcement_lead"),
    "strict": ("strictness",),
    "join_code": ("join_code",),
    "students": ("students",),
}
"""The settings that each of the terms decides."""


@dataclass(frozen=True)
class LastSeason:
    """The divisions of the season before, the highest first."""

    settings: Sequence[LeagueSettings]
    tables: Sequence[Sequence[str]]
    """The display names of the players of each, in the order of the final table."""
    gone: frozenset[str] = frozenset()
    """Who was disqualified."""


async def load_last_season(store: Store, competition: str) -> LastSeason | None:
    """Return the latest season of a competition; raise `UsageError` if it is not over."""
    rows = [(row, LeagueSettings.read(row.settings)) for row in await store.leagues()]
    own = [
        (division.season, division.number, row, settings)
        for row, settings in rows
        if (division := settings.division) and division.competition == competition
    ]
    if not own:
        return None
    latest = max(season for season, *_ in own)
    parts = sorted(
        (number, row, settings) for season, number, row, settings in own if season == latest
    )
    unfinished = [row.league_id for _, row, _ in parts if not row.ended]
    if unfinished:
        raise UsageError(
            f"season {latest} is not over: {', '.join(unfinished)}",
            "league end ends a league early",
        )
    seasons = [await load_season(store, settings) for _, _, settings in parts]
    out = [
        entry.display_name
        for season in seasons
        for entry in season.roster.of(Role.PLAYER)
        if entry.state is Lifecycle.DISQUALIFIED
    ]
    tables = [[row.display_name for row in season.standings()] for season in seasons]
    return LastSeason([settings for _, _, settings in parts], tables, frozenset(out))


def plan_leagues(
    files: ConfigFiles, terms: SeasonTerms, last: LastSeason | None
) -> list[LeagueSettings]:
    """Return the settings of the leagues of the next season, or raise `UsageError`."""
    if last is None:
        return _plan_first(files, terms)
    before = last.settings[0].division
    if before is None:
        raise ValueError("a division has a competition")
    sizes = tuple(terms.sizes or before.sizes)
    movers = before.movers if terms.movers is None else terms.movers
    gone = {*last.gone, *(terms.gone or ())}
    players = plan_season(last.tables, movers, sizes, gone, terms.seeds or ())
    base = _change(last.settings[0], files, terms)
    return _make_divisions(
        base, replace(before, season=before.season + 1, sizes=sizes, movers=movers), players
    )


def _change(before: LeagueSettings, files: ConfigFiles, terms: SeasonTerms) -> LeagueSettings:
    """Return the settings of the season before with what *terms* say."""
    wanted = make_settings(files, structs.replace(terms, game=terms.game or ",".join(before.games)))
    default = SeasonTerms(league_id=terms.league_id)
    said = [term for term in _SETTINGS_OF if getattr(terms, term) != getattr(default, term)]
    changes = {name: getattr(wanted, name) for term in said for name in _SETTINGS_OF[term]}
    return replace(before, seed=terms.seed or new_seed(), **changes)


def _plan_first(files: ConfigFiles, terms: SeasonTerms) -> list[LeagueSettings]:
    if terms.sizes is None:
        hint = f"league divisions {terms.league_id} --sizes 10,10,10"
        raise UsageError(f"{terms.league_id} has no season yet: how large are its divisions?", hint)
    movers = DEFAULT_MOVERS if terms.movers is None else terms.movers
    division = Division(terms.league_id, 1, 1, tuple(terms.sizes), movers)
    base = replace(make_settings(files, terms), unique_names=True)
    return _make_divisions(base, division, draw_divisions(terms.seeds or (), terms.sizes))


def _make_divisions(
    base: LeagueSettings, division: Division, players: Divisions[str]
) -> list[LeagueSettings]:
    """Return the settings of each division, which differ in who plays and in the seed."""
    made = []
    for number, (size, names) in enumerate(zip(division.sizes, players, strict=True), 1):
        others = [one for other in players if other is not names for one in other]
        place = replace(division, number=number, invited=tuple(names), elsewhere=tuple(others))
        most = max(size, len(names))
        is_last = number == len(division.sizes)
        made.append(
            replace(
                base,
                league_id=f"{division.competition}_s{division.season}_d{number}",
                seed=f"{base.seed}/{number}",
                max_players=max(base.max_players, most) if is_last else most,
                division=place,
            )
        )
    return made
