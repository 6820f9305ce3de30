"""The versions of the protocol that a league may accept, and how they differ."""

from collections.abc import Mapping
from typing import Final

from agent_league.protocol.fields import VERSION
from agent_league.vocabulary import Json

V1: Final = "league.v1"
PROTOCOLS: Final = (VERSION, V1)
UNIQUE_NAME_VERSIONS: Final = frozenset({V1})
"""The versions in which no two agents may have the same name."""
DEFAULT_OPTIONS: Mapping[tuple[str, str], Mapping[str, Json]] = {
    (V1, "even_odd"): {"low": 0, "high": 99}
}
"""The options of a game in one version, unless somebody sets others."""
