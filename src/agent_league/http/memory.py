"""The same wire without sockets: for tests, and for agents in one process."""

import asyncio
from collections.abc import Awaitable
from urllib.parse import urlsplit

from agent_league.http.exchange import Answer, HttpRequest, Response, check_answer
from agent_league.http.routing import Head, Route, find_route
from agent_league.http.site import MCP, Site, ask, has_failed, make_server_error
from agent_league.protocol.failures import LateError, UnreachableError


class Network:
    """Sites by URL, reached as over HTTP: the same limits, the same failures, no bytes copied."""

    def __init__(self) -> None:
        self._sites: dict[str, Site] = {}
        self._pending: set[asyncio.Future[Answer]] = set()

    def host(self, url: str, site: Site) -> None:
        self._sites[url] = site

    def unhost(self, url: str) -> None:
        """Make *url* unreachable; it may be so already."""
        self._sites.pop(url, None)

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        """Return the answer to *body*, or raise `NoAnswerError` within so many seconds."""
        # A real wire always lets other tasks run; without this, two matches would not interleave.
        await asyncio.sleep(0)
        route = self._find_route(url)
        if route is None:
            raise UnreachableError(f"nobody is at {url}")
        if len(body) > route.body_limit:
            return check_answer(route.site.too_large(), url)
        answer = ask(route.respond, body)
        if isinstance(answer, asyncio.Future):
            answer = await self._wait_for(answer, url, within)
        if not isinstance(answer, Answer):
            raise UnreachableError(f"{url} speaks MCP over HTTP only")
        return check_answer(answer, url)

    def post_traced(
        self, url: str, body: bytes, within: float, traceparent: str
    ) -> Awaitable[Answer]:
        """Return the answer to *body*; no header is delivered."""
        return self.post(url, body, within)

    async def exchange(self, url: str, http_request: HttpRequest, within: float) -> Response:
        """Return the answer to *http_request*; its headers are not delivered."""
        answer = await self.post(url, http_request.body, within)
        return Response(answer.status, answer.body)

    async def _wait_for(self, task: asyncio.Future[Answer], url: str, within: float) -> Answer:
        # The task goes on if we stop waiting or are cancelled: a peer does not know of either.
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)
        try:
            await asyncio.wait({task}, timeout=within)
        finally:
            if not task.done():
                task.add_done_callback(has_failed)  # so that a failure is still logged
        if not task.done():
            raise LateError(f"{url} gave no answer within {within:g} s")
        return make_server_error() if has_failed(task) else task.result()

    async def get(self, url: str, within: float) -> Answer:
        """Return what is at *url*, or raise `UnreachableError` if there is nothing."""
        route = self._find_route(url, "GET")
        answer = ask(route.respond, b"") if route else None
        if not isinstance(answer, Answer):
            raise UnreachableError(f"nobody is at {url}")
        return answer

    async def listens(self, url: str, within: float) -> bool:
        """Whether somebody is at *url*."""
        await asyncio.sleep(0)
        return self._find_route(url) is not None

    reaches = listens

    def _find_route(self, url: str, method: str = "POST") -> Route | None:
        """Return who answers a request at *url*; None if no server is there."""
        parts = urlsplit(url)
        head = Head(method, parts.path, parts.query.encode(), (), "1.1", keep=True)
        site = self._sites.get(url.partition("?")[0])
        if site is not None:
            return find_route(site, head._replace(path=MCP))
        host = self._sites.get(f"{parts.scheme}://{parts.netloc}{MCP}")
        return find_route(host, head) if host else None
