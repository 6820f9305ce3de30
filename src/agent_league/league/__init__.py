"""The league manager: who takes part, who meets whom, who leads."""

from agent_league.league.manager import GuestHost, LeagueManager

__all__ = ["GuestHost", "LeagueManager"]
