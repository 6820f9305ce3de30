"""The league manager: who takes part, who meets whom, who leads."""

from agent_league.league.manager import Extension, LeagueManager
from agent_league.league.settings import CLASS_LEAD, GuestRules, LeagueSettings

__all__ = ["CLASS_LEAD", "Extension", "GuestRules", "LeagueManager", "LeagueSettings"]
