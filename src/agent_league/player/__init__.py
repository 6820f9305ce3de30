"""The player: perceives, decides, acts, remembers."""

from agent_league.player.brain import Brain, NoSuchStrategyError, load_brain
from agent_league.player.player import Player

__all__ = ["Brain", "NoSuchStrategyError", "Player", "load_brain"]
