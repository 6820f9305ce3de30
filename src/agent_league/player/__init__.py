"""The player: perceives, decides, acts, remembers."""

from agent_league.player.decision import Brain
from agent_league.player.player import Player

__all__ = ["Brain", "Player"]
