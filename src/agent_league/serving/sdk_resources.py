"""The resources and prompts of an agent, as the SDK lists, reads and completes them."""

import base64
from inspect import isawaitable
from typing import Any
from urllib.parse import unquote

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from agent_league.http.exchange import JSON_TYPE
from agent_league.offer import Completions, Offer, compile_address
from agent_league.protocol import ProtocolError
from agent_league.serving.sdk_tools import Context

_MAX_COMPLETIONS = 100


class Contents:
    """Resources and prompts; a resource with variables in its address is a template in MCP."""

    def __init__(self, offer: Offer) -> None:
        self._resources = [
            (compile_address(resource.uri), resource) for resource in offer.resources
        ]
        self._prompts = {prompt.name: prompt for prompt in offer.prompts}
        self._completions: dict[str, Completions] = {
            **{prompt.name: prompt.completions for prompt in offer.prompts},
            **{resource.uri: resource.completions for resource in offer.resources},
        }

    def list_resources(self) -> types.ListResourcesResult:
        resources = [
            types.Resource(uri=r.uri, name=r.name, description=r.description, mime_type=r.mime)
            for pattern, r in self._resources
            if not pattern.groups
        ]
        return types.ListResourcesResult(resources=resources)

    def list_templates(self) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(
                uri_template=r.uri, name=r.name, description=r.description, mime_type=r.mime
            )
            for pattern, r in self._resources
            if pattern.groups
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    def list_prompts(self) -> types.ListPromptsResult:
        prompts = [
            types.Prompt(
                name=prompt.name,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(name=name, description=meaning, required=True)
                    for name, meaning in prompt.arguments.items()
                ],
            )
            for prompt in self._prompts.values()
        ]
        return types.ListPromptsResult(prompts=prompts)

    async def read(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        for pattern, resource in self._resources:
            if (found := pattern.fullmatch(uri)) is None:
                continue
            values = {name: unquote(value) for name, value in found.groupdict().items()}
            content = resource.read(**values)
            if isawaitable(content):
                content = await content
            if content is not None:
                return _encode_content(uri, resource.mime, content)
        raise MCPError(types.INVALID_PARAMS, "there is no such resource", data={"uri": uri[:500]})

    async def get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"no prompt is called {params.name[:60]!r}")
        arguments = params.arguments or {}
        for missing in prompt.arguments.keys() - arguments.keys():
            raise MCPError(types.INVALID_PARAMS, f"{missing}: a required argument is missing")
        try:
            text: Any = prompt.write(arguments)
            if isawaitable(text):
                text = await text
        except ProtocolError as error:
            raise MCPError(types.INVALID_PARAMS, error.detail) from error
        if isinstance(text, types.GetPromptResult):
            return text
        content = types.TextContent(type="text", text=text)
        message = types.PromptMessage(role="user", content=content)
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def complete(
        self, ctx: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        key = params.ref.name if isinstance(params.ref, types.PromptReference) else params.ref.uri
        values = self._completions.get(key, {}).get(params.argument.name, tuple)()
        matches = [value for value in values if value.startswith(params.argument.value)]
        completion = types.Completion(
            values=matches[:_MAX_COMPLETIONS],
            total=len(matches),
            has_more=len(matches) > _MAX_COMPLETIONS,
        )
        return types.CompleteResult(completion=completion)


def _encode_content(uri: str, mime: str, content: Any) -> types.ReadResourceResult:
    encoded: types.TextResourceContents | types.BlobResourceContents
    if isinstance(content, bytes):
        blob = base64.b64encode(content).decode()
        encoded = types.BlobResourceContents(uri=uri, mime_type=mime, blob=blob)
    else:
        text = msgspec.json.encode(content).decode() if mime == JSON_TYPE else str(content)
        encoded = types.TextResourceContents(uri=uri, mime_type=mime, text=text)
    return types.ReadResourceResult(contents=[encoded])
