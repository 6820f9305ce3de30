"""A mind by way of pydantic-ai, with its own models for tests."""

import asyncio
from random import Random
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent_league.llm import EndpointError
from agent_league.llm.pydantic_ai_mind import PydanticAiMind
from agent_league.player import load_brain
from agent_league.strategy import Situation

SITUATION = Situation({"choices": ["even", "odd"]}, ("even", "odd"), Random(0), game="even_odd")


def make_model(move: Any) -> FunctionModel:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        (tool,) = info.output_tools
        return ModelResponse(parts=[ToolCallPart(tool.name, {"move": move})])

    return FunctionModel(answer)


def ask(move: Any) -> tuple[Any, list[dict[str, Any]]]:
    mind, notes = PydanticAiMind(make_model(move)), list[dict[str, Any]]()
    mind.note = lambda **record: notes.append(record)

    async def choose() -> Any:
        return await mind(SITUATION)

    return asyncio.run(choose()), notes


def test_a_legal_move_is_made_and_recorded() -> None:
    move, (note,) = ask("odd")
    assert move == "odd"
    assert note["prompt_tokens"] > 0


def test_an_illegal_move_is_an_error() -> None:
    with pytest.raises(EndpointError, match="no legal move"):
        ask("maybe")


def test_it_is_known_by_its_name() -> None:
    assert isinstance(load_brain("pydantic_ai:openai:gpt-any").strategy, PydanticAiMind)
