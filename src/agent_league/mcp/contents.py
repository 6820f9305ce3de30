"""What can be read at an agent, as the SDK lists, reads and completes it."""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any
from urllib.parse import unquote

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from agent_league.mcp.calls import Context
from agent_league.mcp.offer import JSON_TYPE, Offer, Prompt, Template
from agent_league.protocol import ProtocolError

_MOST_COMPLETIONS = 100


class Contents:
    """Resources, their templates, and prompts."""

    def __init__(self, offer: Offer) -> None:
        self._resources = {resource.uri: resource for resource in offer.resources}
        self._templates = [(_pattern(template.uri), template) for template in offer.templates]
        self._prompts = {prompt.name: prompt for prompt in offer.prompts}

    async def list(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        listed = [
            types.Resource(uri=r.uri, name=r.name, description=r.description, mime_type=r.mime)
            for r in self._resources.values()
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        listed = [
            types.ResourceTemplate(
                uri_template=t.uri, name=t.name, description=t.description, mime_type=t.mime
            )
            for _, t in self._templates
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        resource = self._resources.get(uri)
        if resource is not None:
            return _shown(uri, resource.mime, resource.read())
        for pattern, template in self._templates:
            found = pattern.fullmatch(uri)
            content = await _looked_up(template, found.groupdict()) if found else None
            if content is not None:
                return _shown(uri, template.mime, content)
        raise MCPError(types.INVALID_PARAMS, "there is no such resource", data={"uri": uri[:500]})

    async def list_prompts(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_listed(p) for p in self._prompts.values()])

    async def get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"no prompt is called {params.name[:60]!r}")
        given = params.arguments or {}
        for missing in prompt.arguments.keys() - given.keys():
            raise MCPError(types.INVALID_PARAMS, f"{missing}: a required argument is missing")
        try:
            text: Any = prompt.write(given)
        except ProtocolError as error:
            raise MCPError(types.INVALID_PARAMS, error.detail) from error
        if isinstance(text, types.GetPromptResult):
            return text
        content = types.TextContent(type="text", text=text)
        said = types.PromptMessage(role="user", content=content)
        return types.GetPromptResult(description=prompt.description, messages=[said])

    async def complete(
        self, ctx: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        known = self._known(params.ref).get(params.argument.name, tuple)()
        fit = [value for value in known if value.startswith(params.argument.value)]
        shown = types.Completion(
            values=fit[:_MOST_COMPLETIONS], total=len(fit), has_more=len(fit) > _MOST_COMPLETIONS
        )
        return types.CompleteResult(completion=shown)

    def _known(
        self, ref: types.PromptReference | types.ResourceTemplateReference
    ) -> Mapping[str, Callable[[], Sequence[str]]]:
        if isinstance(ref, types.PromptReference):
            prompt = self._prompts.get(ref.name)
            return prompt.known if prompt else {}
        return next((t.known for _, t in self._templates if t.uri == ref.uri), {})


def _pattern(uri: str) -> re.Pattern[str]:
    """Return what the addresses of a template look like, each variable a part without slashes."""
    pieces = re.split(r"\{(\w+)\}", uri)
    return re.compile(
        "".join(
            f"(?P<{piece}>[^/]+)" if number % 2 else re.escape(piece)
            for number, piece in enumerate(pieces)
        )
    )


async def _looked_up(template: Template, values: Mapping[str, str]) -> Any:
    content = template.read({name: unquote(value) for name, value in values.items()})
    return await content if isawaitable(content) else content


def _shown(uri: str, mime: str, content: Any) -> types.ReadResourceResult:
    shown: types.TextResourceContents | types.BlobResourceContents
    if isinstance(content, bytes):
        blob = base64.b64encode(content).decode()
        shown = types.BlobResourceContents(uri=uri, mime_type=mime, blob=blob)
    else:
        text = msgspec.json.encode(content).decode() if mime == JSON_TYPE else str(content)
        shown = types.TextResourceContents(uri=uri, mime_type=mime, text=text)
    return types.ReadResourceResult(contents=[shown])


def _listed(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=meaning, required=True)
        for name, meaning in prompt.arguments.items()
    ]
    return types.Prompt(name=prompt.name, description=prompt.description, arguments=arguments)
