"""`league web`: the leagues of a folder as pages."""

import sys
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agent_league.cli import league_options as flags
from agent_league.running.errors import UsageError
from agent_league.running.folder import SHARED, STORE_FILE, Folder
from agent_league.running.league_run import LeagueRun, Observer
from agent_league.running.page_server import serve_kept_leagues
from agent_league.running.serve import LOOPBACK, bind, bind_first

PORTS = range(8000, 8010)


def web(
    folder: str | None = None,
    /,
    *,
    port: flags.Port = None,
    host: flags.Host = None,
    open: flags.Open = False,  # noqa: A002 - the flag's name
    aliases: flags.Aliases = False,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
) -> None:
    """Show the leagues of a folder as pages in the browser; finished ones, and those that are played.

    Nothing is changed, and no manager is needed. Ctrl-C stops it.

    Parameters
    ----------
    folder
        The folder or the store: SHARED, a file, or postgresql://...
    """
    place = find_place(folder, Folder(shared, store))
    where = LOOPBACK if host is None else host
    sock = bind_first(where, PORTS) if port is None else bind(where, port)
    with sock:
        serve_kept_leagues(place, sock, announce(place, open_browser=open), aliases=aliases)


def find_place(wanted: str | None, folder: Folder) -> Folder:
    """Return the folder or the store that *wanted* names, or raise `UsageError` if it holds nothing."""
    if wanted is not None:
        path = Path(wanted).expanduser()
        inside = next((one for one in (path, path / SHARED) if (one / STORE_FILE).exists()), None)
        is_store = "://" in wanted or path.is_file()
        if inside is None and not is_store:
            hint = "league leagues shows which there are; league play plays one"
            raise UsageError(f"there is no league in {wanted}", hint)
        folder = replace(folder, shared=inside) if inside else replace(folder, address=wanted)
    if folder.address is None and not (folder.shared / STORE_FILE).exists():
        raise UsageError(f"there is no league in {folder.shared}", "league play plays one")
    return folder


def announce(place: Folder, *, open_browser: bool) -> Callable[[str], None]:
    """Return a function that says where the pages are, and opens them in the browser if asked."""

    def tell(url: str) -> None:
        print(f"Pages of {place.name}: {url}   (Ctrl-C stops)", file=sys.stderr, flush=True)
        if open_browser:
            webbrowser.open(url)

    return tell


class BrowserOpener(Observer):
    """Opens the pages of a league in the browser when they are served."""

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        webbrowser.open(league_run.url.removesuffix("mcp"))


def keep_showing(league_run: LeagueRun) -> None:
    """Serve the pages of a league that is over, where its manager had them."""
    folder = league_run.folder
    if folder.is_in_memory:
        return
    with bind(league_run.spec.host, league_run.port) as sock:
        front = league_run.spec.settings.league_id
        serve_kept_leagues(folder, sock, announce(folder, open_browser=False), front=front)
