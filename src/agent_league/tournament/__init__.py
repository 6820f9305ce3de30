"""Pairings and standings: pure functions of players and results."""
