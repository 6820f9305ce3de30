"""Serves the pages of kept leagues, without an agent."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.http.site import Site
from agent_league.running.event_loop import run
from agent_league.running.folder import Folder
from agent_league.running.serve import url_of
from agent_league.web.kept_site import KeptSite

_ONLY_PAGES = Answer(404, b'{"error":"no league is run here: these are only its pages"}')


def serve_kept_leagues(
    folder: Folder,
    sock: socket.socket,
    on_start: Callable[[str], None],
    *,
    front: str | None = None,
    aliases: bool = False,
) -> None:
    """Serve the pages of all leagues of *folder* until Ctrl-C; *on_start* gets their address.

    The pages of the league *front* are where its manager had them.
    """

    async def serve() -> None:
        async with folder.read_store() as store:
            kept = KeptSite(store, front=front, aliases=aliases)
            await kept.open()
            await _serve(kept, sock, on_start)

    with suppress(KeyboardInterrupt):
        run(serve())


async def _serve(kept: KeptSite, sock: socket.socket, on_start: Callable[[str], None]) -> None:
    site = Site(
        answer=lambda body, headers: _ONLY_PAGES,
        find_page=lambda path: None,
        too_large=lambda: replace(_ONLY_PAGES, status=413),
        show=kept.show,
    )
    url = url_of(sock).removesuffix("mcp")
    server = await HttpServer.start(site, sock)
    try:
        on_start(url)
        await asyncio.Event().wait()
    finally:
        await server.close(0.2)
