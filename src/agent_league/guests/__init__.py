"""Players that cannot listen: whoever calls the league plays, and the league listens for them."""

from agent_league.guests.house import GuestHouse

__all__ = ["GuestHouse"]
