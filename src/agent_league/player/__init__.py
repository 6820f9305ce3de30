"""The player: perceives, decides, acts, remembers."""

from agent_league.player.brain import Brain, NoSuchStrategyError, load_brain
from agent_league.player.player import Player
from agent_league.player.sensors import Played, Turn

__all__ = ["Brain", "NoSuchStrategyError", "Played", "Player", "Turn", "load_brain"]
