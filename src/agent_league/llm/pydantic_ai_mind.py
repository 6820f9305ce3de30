"""A model of any provider that pydantic-ai knows: `pydantic_ai:anthropic:claude-...`. Extra `llm`."""

from collections.abc import Callable
from time import monotonic
from typing import Any

from agent_league.extras import import_extra
from agent_league.llm.endpoint import EndpointError
from agent_league.llm.prompt import INSTRUCTIONS, VERSION, hash_prompt, make_messages, make_schema
from agent_league.strategy import Situation
from agent_league.vocabulary import Json


class PydanticAiMind:
    """Asks *model*, which is a name of pydantic-ai or one of its models, with the prompt of all models."""

    def __init__(self, model: Any) -> None:
        self._library = import_extra("pydantic_ai", "llm")
        self._model = model
        self.note: Callable[..., None] = lambda **fields: None
        """Called with what each move took."""

    async def __call__(self, situation: Situation) -> Json:
        messages = make_messages(situation)
        schema = make_schema(situation.legal)["json_schema"]["schema"]
        form = self._library.StructuredDict(schema, name="move")
        agent = self._library.Agent(
            self._model, output_type=form, instructions=INSTRUCTIONS, retries=0
        )
        started = monotonic()
        try:
            found = await agent.run(messages[1]["content"])
        except self._library.exceptions.AgentRunError as error:
            raise EndpointError(f"{self._model} gave no answer: {error}") from error
        move, usage = found.output.get("move"), found.usage
        self.note(
            model=str(self._model),
            prompt_version=VERSION,
            prompt=hash_prompt(messages),
            prompt_tokens=usage.input_tokens,
            answer_tokens=usage.output_tokens,
            milliseconds=round(1000 * (monotonic() - started)),
            answer=str(found.output)[:500],
            move=move,
        )
        for known in situation.legal:
            if move == known and type(move) is type(known):
                return known
        raise EndpointError(f"{self._model} gave no legal move: {str(move)[:100]!r}")
