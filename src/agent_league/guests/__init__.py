"""Guests: players without a server. They play by calling the league, which hosts an endpoint for each."""

from agent_league.guests.desk import GuestDesk

__all__ = ["GuestDesk"]
