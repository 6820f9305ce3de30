"""Which league a command is about: LEAGUE is an id, an address or a folder, by default the latest."""

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agent_league.files.layout import is_safe_id
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, STORE_FILE, Folder
from agent_league.running.serve import open_client
from agent_league.store.store import LeagueRow

_HOST_AND_PORT = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}(/.*)?")
CONNECT_TIMEOUT = 0.5


def is_address(league: str | None) -> bool:
    """Whether *league* is the address of a manager: a URL, or a host with a port."""
    return league is not None and ("://" in league or bool(_HOST_AND_PORT.fullmatch(league)))


def complete_endpoint(url: str) -> str:
    """Return the address of the endpoint, however the league was named."""
    full_url = url if "://" in url else f"http://{url}"
    return full_url if full_url.rstrip("/").endswith("/mcp") else f"{full_url.rstrip('/')}/mcp"


def find_stored(
    league: str | None, folder: Folder, *, must_be_unfinished: bool = False
) -> tuple[Folder, LeagueRow]:
    """Return a league that is kept, and the folder that keeps it, or raise `UsageError`."""
    if is_address(league):
        hint = "give its id or its folder; league leagues shows which there are"
        raise UsageError(f"{league} is an address, and this reads what a folder keeps", hint)
    if league is not None and league not in {row.league_id for row in folder.list_leagues()}:
        inside = _find_folder(league)
        if inside is not None:
            other = replace(folder, shared=inside)
            return other, other.find_league(must_be_unfinished=must_be_unfinished)
    return folder, folder.find_league(league, must_be_unfinished=must_be_unfinished)


def _find_folder(path: str) -> Path | None:
    """Return the folder with leagues that *path* is, or has in it."""
    candidates = (Path(path).expanduser(), Path(path).expanduser() / SHARED)
    return next((one for one in candidates if (one / STORE_FILE).exists()), None)


def find_address(league: str | None, folder: Folder) -> str:
    """Return the endpoint of the manager of a league that runs, or should run.

    Without a league it is the latest of the folder that runs, or else the address in the files.
    """
    if league is not None and is_address(league):
        return complete_endpoint(league)
    if league is None:
        with suppress(UsageError):
            row = folder.find_league(must_be_unfinished=True)
            known = folder.load_address(row.league_id)
            if known and _is_listening(known):
                return known
        from agent_league.running.lineup import ConfigFiles  # noqa: PLC0415 - rarely needed here

        return complete_endpoint(ConfigFiles(folder.shared).league_url)
    noted = folder.load_address(league) if is_safe_id(league) else None
    if noted is not None:  # whatever store it is kept in
        return noted
    home, row = find_stored(league, folder)
    address = home.load_address(row.league_id)
    if address is None:
        raise UsageError(f"{row.league_id} is not running", f"league resume {row.league_id}")
    return address


def find_addresses(league: str | None, folder: Folder) -> list[str]:
    """Return the endpoints of a league that may be led from several, with commas between them."""
    parts = [part.strip() for part in (league or "").split(",") if part.strip()]
    if len(parts) > 1 and not all(map(is_address, parts)):
        named = next(part for part in parts if not is_address(part))
        hint = "several addresses of one league: http://host1:8000,http://host2:8000"
        raise UsageError(f"{named!r} is not an address", hint)
    return [find_address(part, folder) for part in parts] or [find_address(None, folder)]


def _is_listening(url: str) -> bool:
    async def listens() -> bool:
        async with open_client() as wire:
            return await wire.listens(url, CONNECT_TIMEOUT)

    return run(listens())
