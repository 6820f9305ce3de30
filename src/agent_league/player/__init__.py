"""The player: perceives, decides, acts, remembers."""

from agent_league.player.brain import Brain, NoSuchStrategyError, load_brain
from agent_league.player.player import Player
from agent_league.player.sensors import Played, Turn
from agent_league.player.stand_in import StandIn

__all__ = ["Brain", "NoSuchStrategyError", "Played", "Player", "StandIn", "Turn", "load_brain"]
