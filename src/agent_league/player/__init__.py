"""The player: sensors, a decision model, actuators; and the relay, which plays for another agent."""

from agent_league.player.brain import MODEL, Brain, NoSuchStrategyError, load_brain
from agent_league.player.player import Player
from agent_league.player.relay import Relay, RemoteSession
from agent_league.player.sensors import MoveCall, Turn
from agent_league.strategy import FinishedMatch

__all__ = [
    "MODEL",
    "Brain",
    "FinishedMatch",
    "MoveCall",
    "NoSuchStrategyError",
    "Player",
    "Relay",
    "RemoteSession",
    "Turn",
    "load_brain",
]
