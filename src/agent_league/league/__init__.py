"""The league manager: who takes part, who meets whom, who leads."""

from agent_league.league.manager import LeagueManager
from agent_league.league.settings import LeagueSettings

__all__ = ["LeagueManager", "LeagueSettings"]
