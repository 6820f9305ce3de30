"""The endpoint of a model: Ollama, vLLM, llama.cpp, LM Studio, or a hosted one."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agent_league.http.client import HttpClient
from agent_league.http.exchange import HttpRequest
from agent_league.protocol import LeagueError
from agent_league.protocol.failures import NoAnswerError

OLLAMA = "http://127.0.0.1:11434/v1"
LONGEST_ANSWER = 1 << 20
BAD_REQUEST, OK = 400, 200


class EndpointError(LeagueError):
    """The model gave no answer that can be used; the text says why."""


@dataclass(frozen=True)
class Endpoint:
    """Where a model is, which one it is, and what it costs."""

    model: str
    url: str = OLLAMA
    key: str = field(default="", repr=False)
    prices: tuple[float, float] = (0.0, 0.0)
    """What a million tokens cost: of the question, and of the answer."""

    async def list_models(self, within: float) -> list[str]:
        """Return the models that the endpoint offers, or raise `EndpointError`."""
        client = HttpClient(max_answer=LONGEST_ANSWER)
        try:
            answer = await client.get(f"{self.url}/models", within)
            found = msgspec.json.decode(answer.body)
            return [str(one["id"]) for one in found["data"]]
        except (NoAnswerError, msgspec.DecodeError, LookupError, TypeError) as error:
            raise EndpointError(f"{self.url}/models: {error}") from error
        finally:
            await client.close()

    async def complete(self, body: Mapping[str, Any], within: float) -> dict[str, Any]:
        """Return what the model answers, or raise `EndpointError`. Nothing is sent twice.

        An endpoint that does not know how to keep to a schema is asked without one.
        """
        status, answer = await self._post(body, within)
        if status == BAD_REQUEST and "response_format" in body:
            plain = {key: value for key, value in body.items() if key != "response_format"}
            status, answer = await self._post(plain, within)
        if status != OK:
            raise EndpointError(f"{self.url} answered HTTP {status}: {answer[:200]!r}")
        try:
            found: dict[str, Any] = msgspec.json.decode(answer, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise EndpointError(f"{self.url} answered no JSON: {error}") from error
        return found

    async def _post(self, body: Mapping[str, Any], within: float) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = HttpRequest(msgspec.json.encode(body), headers, lambda data: True)
        client = HttpClient(max_answer=LONGEST_ANSWER)
        try:
            response = await client.exchange(f"{self.url}/chat/completions", request, within)
        except NoAnswerError as error:
            raise EndpointError(f"{self.url} does not answer: {error}") from error
        finally:
            await client.close()
        return response.status, response.body


def read_endpoint(model: str = "", environment: Mapping[str, str] = os.environ) -> Endpoint:
    """Return the endpoint that the environment names; *model* wins over its model."""
    chosen = model or environment.get("LEAGUE_LLM_MODEL", "")
    if not chosen:
        raise EndpointError("no model is named: give --model, or set LEAGUE_LLM_MODEL")
    prices = environment.get("LEAGUE_LLM_PRICES", "0,0").split(",")
    try:
        question, answer = map(float, prices)
    except ValueError:
        raise EndpointError(
            f"LEAGUE_LLM_PRICES: expected two numbers, as 0.15,0.60, got {','.join(prices)!r}"
        ) from None
    url = environment.get("LEAGUE_LLM_BASE_URL", OLLAMA).rstrip("/")
    return Endpoint(chosen, url, environment.get("LEAGUE_LLM_API_KEY", ""), (question, answer))
