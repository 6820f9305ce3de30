"""The terms of a league, from the flags of a command."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from cyclopts import Parameter
from cyclopts.validators import Number
from msgspec import UNSET

from agent_league.cli.endings import UsageError
from agent_league.dialects.versions import OPTIONS, PROTOCOLS
from agent_league.game import GAMES
from agent_league.league import CLASS_LEAD, LeagueSettings
from agent_league.protocol.fields import VERSION
from agent_league.sdk import ConfigLoader, LeagueConfig, settings
from agent_league.sdk.layout import Layout

Players = Annotated[int, Parameter(validator=Number(gte=2, lte=1000))]
Legs = Annotated[int, Parameter(validator=Number(gte=1, lte=10))] | None
Ports = Annotated[int, Parameter(validator=Number(gte=0, lte=64000))]
Referees = Annotated[int, Parameter(validator=Number(gte=1, lte=10))]
Game = str | None
Version = Literal["league.v2", "league.v1"]
Switch = Annotated[bool, Parameter(negative=())]
Strict = Annotated[bool | None, Parameter(negative="--tolerant")]


def terms(
    seed: str | None,
    players: int | None,
    shared: Path,
    league_id: str,
    *,
    class_league: bool = False,
    strict: bool | None = None,
    **flags: Any,
) -> LeagueSettings:
    """Return the settings of a league: flags win over the files in *shared*, files over defaults.

    A flag that is None was not given. Without a seed it is a league like no other.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    if class_league:
        given |= {"unique_names": True, "announcement_lead": CLASS_LEAD, "strictness": "strict"}
    if strict is not None:
        given["strictness"] = "strict" if strict else "tolerant"
    usual_protocols = (VERSION,) if class_league else PROTOCOLS
    base = _from_files(shared, league_id, seed or str(secrets.randbelow(10**6)), usual_protocols)
    most = max(base.max_players, players or 0)
    made = replace(base, awaited_players=players, max_players=most, **given)
    usual = OPTIONS.get((made.protocols[0], made.game_type), {})
    return replace(made, options={**usual, **made.options})


def playing(game: Game, settings: LeagueSettings) -> LeagueSettings:
    """Return *settings* for another game, if one is named; its options are then its own."""
    if game is None or game == settings.game_type:
        return settings
    return replace(settings, game_type=known_game(game), options={})


def known_game(game: str) -> str:
    """Return *game* if it can be played; if not, say so before anything starts."""
    if game not in GAMES:
        raise UsageError(f"there is no game {game!r}", f"one of {', '.join(GAMES)}")
    try:
        GAMES[game]
    except ImportError as error:
        raise UsageError(f"the game {game!r} cannot be loaded: {error}") from error
    return game


def _from_files(
    shared: Path, league_id: str, seed: str, protocols: tuple[str, ...]
) -> LeagueSettings:
    loader = ConfigLoader(shared)
    there = Layout(shared).league(league_id).exists()
    league = loader.load_league(league_id) if there else LeagueConfig(league_id=league_id)
    if league.protocols is UNSET:
        league = msgspec.structs.replace(league, protocols=protocols)
    games = loader.load_games_registry()
    return settings(loader.load_system(), league, seed=seed, games=games)
