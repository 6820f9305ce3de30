"""An agent of Pydantic AI that plays a league to its end: python pydantic_ai_model.py URL."""

import asyncio
import json
import sys
from typing import Any

from fake_model import choose_call, summarize
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits

MAX_REQUESTS = 500


def decide(messages: list[Any], info: AgentInfo) -> ModelResponse:
    """Answer as a model does that is shown the tools and the conversation."""
    parts = [part for message in messages for part in message.parts]
    answers = [part.content for part in parts if isinstance(part, ToolReturnPart)]
    chosen = choose_call(answers)
    if chosen is None:
        called = [part.tool_name for part in parts if isinstance(part, ToolReturnPart)]
        return ModelResponse(parts=[TextPart(json.dumps(summarize(called)))])
    name, arguments = chosen
    if name not in {tool.name for tool in info.function_tools}:
        raise LookupError(f"the agent is not shown {name}")
    return ModelResponse(parts=[ToolCallPart(name, arguments)])


async def main(url: str) -> None:
    agent = Agent(FunctionModel(decide), toolsets=[MCPToolset(url)])
    limits = UsageLimits(request_limit=MAX_REQUESTS)
    ended = await agent.run("Join the league, and play until it is over.", usage_limits=limits)
    print(ended.output)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
