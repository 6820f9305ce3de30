"""The same wire with no socket: for tests, for a league in one process, for a clock that is ours."""

import asyncio
from urllib.parse import urlsplit

from agent_league.transport.exchange import Answer, Heard, Parcel, usable
from agent_league.transport.failures import LateError, UnreachableError
from agent_league.transport.site import MCP, Site, ask, outcome


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
        # A real wire always gives others a turn; without this, two matches would not interleave.
        await asyncio.sleep(0)
        site = self._at(url)
        if site is None:
            raise UnreachableError(f"nobody is at {url}")
        if len(body) > site.body_limit:
            return usable(site.too_large(), url)
        answer = ask(site, body, ())
        if answer is None:
            raise UnreachableError(f"{url} speaks MCP over HTTP only")
        if not isinstance(answer, Answer):
            answer = await self._awaited(answer, url, within)
        return usable(answer, url)

    async def exchange(self, url: str, parcel: Parcel, within: float) -> Heard:
        """Return the answer to *parcel*; those who are hosted here look at bodies alone."""
        answer = await self.post(url, parcel.body, within)
        return Heard(answer.status, answer.body)

    async def _awaited(self, task: asyncio.Future[Answer], url: str, within: float) -> Answer:
        # The task outlives our patience, and our own cancelling: a peer does not know of either.
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)
        try:
            await asyncio.wait({task}, timeout=within)
        finally:
            if not task.done():
                task.add_done_callback(outcome)  # so that a failure is still written down
        if not task.done():
            raise LateError(f"{url} gave no answer within {within:g} s")
        return outcome(task)

    async def listens(self, url: str, within: float) -> bool:
        """Whether somebody is at *url*."""
        return await self.reaches(url, within)

    async def reaches(self, url: str, within: float) -> bool:
        """Whether somebody is at *url*."""
        await asyncio.sleep(0)
        return self._at(url) is not None

    def _at(self, url: str) -> Site | None:
        if url in self._sites:
            return self._sites[url]
        parts = urlsplit(url)
        host = self._sites.get(f"{parts.scheme}://{parts.netloc}{MCP}")
        return host.beside(parts.path) if host else None
