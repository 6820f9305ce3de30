"""The terms of a league, from the flags of a command."""

import secrets
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from agent_league.league import CLASS_LEAD, LeagueSettings

Players = Annotated[int, Parameter(validator=Number(gte=2, lte=1000))]
Legs = Annotated[int, Parameter(validator=Number(gte=1, lte=10))]
Ports = Annotated[int, Parameter(validator=Number(gte=0, lte=64000))]
Switch = Annotated[bool, Parameter(negative=())]

LARGEST_BY_DEFAULT = 100


def terms(
    seed: str | None, players: int | None, *, class_league: bool = False, **more: Any
) -> LeagueSettings:
    """Return the settings of a league; without a seed, of one like no other."""
    return LeagueSettings(
        seed=seed if seed is not None else str(secrets.randbelow(10**6)),
        awaited_players=players,
        max_players=max(LARGEST_BY_DEFAULT, players or 0),
        unique_names=class_league,
        announcement_lead=CLASS_LEAD if class_league else 0.0,
        **more,
    )
