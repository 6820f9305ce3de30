"""The versions of the protocol that a league may admit, and in what their terms differ."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from agent_league.protocol.fields import VERSION
from agent_league.vocabulary import Json

V1: Final = "league.v1"
PROTOCOLS: Final = (VERSION, V1)
OWN_NAMES: Final = frozenset({V1})
"""The versions in which no two agents may have one name."""
OPTIONS: Mapping[tuple[str, str], Mapping[str, Json]] = MappingProxyType(
    {(V1, "even_odd"): MappingProxyType({"low": 0, "high": 99})}
)
"""What a version sets for a game where nobody sets anything else."""
