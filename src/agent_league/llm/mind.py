"""A model that chooses moves, and the record of what each move took."""

from collections.abc import Callable
from time import monotonic
from typing import Any

from agent_league.llm.endpoint import Endpoint, EndpointError
from agent_league.llm.prompt import VERSION, hash_prompt, make_messages, make_schema, read_move
from agent_league.strategy import Situation
from agent_league.vocabulary import Json

LONGEST = 120.0
"""Seconds for an answer; a player waits only as long as its deadline lets it."""
MILLION = 1_000_000


class LlmMind:
    """Asks the model at *endpoint* for each move. What it answers is checked, never trusted.

    If it answers too late, or with no legal move, it raises, and its player makes a random legal
    move and records why.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.note: Callable[..., None] = lambda **fields: None
        """Called with what each move took."""

    async def __call__(self, situation: Situation) -> Json:
        messages = make_messages(situation)
        body = {
            "model": self.endpoint.model,
            "messages": messages,
            "response_format": make_schema(situation.legal),
            "stream": False,
        }
        started = monotonic()
        answer = await self.endpoint.complete(body, LONGEST)
        text = _get_text(answer)
        record = self._describe(answer, monotonic() - started)
        try:
            move = read_move(text, situation.legal)
        except ValueError as error:
            self.note(**record, prompt=hash_prompt(messages), answer=text[:500], move=None)
            raise EndpointError(f"{self.endpoint.model} gave {error}") from None
        self.note(**record, prompt=hash_prompt(messages), answer=text[:500], move=move)
        return move

    async def warm_up(self) -> None:
        """Let the endpoint load the model, so that the first move does not wait for it."""
        body = {
            "model": self.endpoint.model,
            "messages": [{"role": "user", "content": "Say ok."}],
            "max_tokens": 5,
            "stream": False,
        }
        started = monotonic()
        answer = await self.endpoint.complete(body, LONGEST)
        self.note(**self._describe(answer, monotonic() - started), warm_up=True)

    def _describe(self, answer: dict[str, Any], seconds: float) -> dict[str, Json]:
        usage = answer.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        tokens = [_count(counts.get(key)) for key in ("prompt_tokens", "completion_tokens")]
        prices = zip(tokens, self.endpoint.prices, strict=True)
        return {
            "model": self.endpoint.model,
            "prompt_version": VERSION,
            "prompt_tokens": tokens[0],
            "answer_tokens": tokens[1],
            "cost": round(sum(count * price for count, price in prices) / MILLION, 8),
            "milliseconds": round(1000 * seconds),
        }


def _get_text(answer: dict[str, Any]) -> str:
    try:
        return str(answer["choices"][0]["message"]["content"])
    except (LookupError, TypeError):
        raise EndpointError(f"an answer without choices: {str(answer)[:200]}") from None


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
