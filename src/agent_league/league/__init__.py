"""The league manager: who takes part, who meets whom, who leads."""

from agent_league.league.manager import LeagueManager
from agent_league.league.settings import CLASS_LEAD, LeagueSettings

__all__ = ["CLASS_LEAD", "LeagueManager", "LeagueSettings"]
