"""The player: perceives, decides, acts, remembers."""

from agent_league.player.brain import Brain, NoSuchStrategyError, load_brain
from agent_league.player.player import Player
from agent_league.player.sensors import Played

__all__ = ["Brain", "NoSuchStrategyError", "Played", "Player", "load_brain"]
