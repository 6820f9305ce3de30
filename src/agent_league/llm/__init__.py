"""A language model as the mind of a player, behind any endpoint that speaks OpenAI's chat protocol."""

from agent_league.llm.endpoint import Endpoint, EndpointError, read_endpoint
from agent_league.llm.mind import LlmMind

__all__ = ["Endpoint", "EndpointError", "LlmMind", "read_endpoint"]
