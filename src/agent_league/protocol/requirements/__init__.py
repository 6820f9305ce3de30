"""The rule book: everything that the specification demands of an agent, each demand once.

`rules` holds what a league can notice while it plays; `any_agent`, `player`, `referee` and
`manager` hold what only `league check` finds out. Both refer to these values.
"""

from agent_league.protocol.requirements.requirement import Gravity, Requirement
from agent_league.protocol.requirements.sections import SECTIONS

__all__ = ["SECTIONS", "Gravity", "Requirement"]
