"""One run of a server of leagues: its sockets, its processes, its store."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_league.agent import log
from agent_league.files.logger import AgentLogs
from agent_league.hosting.directory import HostedLeague
from agent_league.hosting.front import FrontDesk, make_front_site
from agent_league.hosting.server import LeagueServer, Place, ServerSpec, Tell
from agent_league.http.server import HttpServer
from agent_league.protocol import tokens
from agent_league.running.event_loop import run
from agent_league.running.folder import Folder
from agent_league.running.house import Houses
from agent_league.running.lineup import ConfigFiles
from agent_league.running.serve import bind, open_client, url_of
from agent_league.season.season import Season, Stage
from agent_league.store.agent_files import Identity, load_identity, save_identity
from agent_league.web.kept_site import KeptSite

TOKEN_VARIABLE = "LEAGUE_SERVER_TOKEN"
SERVER_FILE, ADDRESS_FILE = "server.json", "server.address"


@dataclass(frozen=True)
class Opened:
    """A server that has just begun to listen."""

    url: str
    resumed: Sequence[HostedLeague]
    new_token: str | None
    """The token of the staff, if it is new: it is shown only once."""


def run_server(
    spec: ServerSpec, folder: Folder, on_open: Callable[[Opened], None], tell: Tell
) -> None:
    """Run a server of leagues until Ctrl-C or SIGTERM; leagues that have not ended go on."""
    logs = AgentLogs(folder.logs, spec.log_level)
    with bind(spec.host, spec.port) as sock, Houses(spec.referees, spec.host, logs) as houses:

        async def serve() -> None:
            async with folder.read_store() as store, open_client() as wire:
                url = spec.endpoint or url_of(sock)
                place = Place(spec, folder, store, wire, url, houses)
                token, is_new = find_token(folder.shared)
                server = LeagueServer(place, token, tell)
                desk = FrontDesk(server, ConfigFiles(folder.shared))
                kept = KeptSite(store, describe=lambda one: describe_course(server, one))
                site = replace(make_front_site(desk, server), show=kept.show)
                resumed = await server.resume()
                http = await HttpServer.start(site, sock)
                server.forget_routes = http.known_heads.clear
                _save_address(folder.shared, url)
                on_open(Opened(url, resumed, token if is_new else None))
                supervision = asyncio.ensure_future(houses.supervise())
                stop = asyncio.Event()
                asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
                try:
                    await stop.wait()
                finally:
                    supervision.cancel()
                    _save_address(folder.shared, None)
                    await server.close()
                    await http.close(0.2)
                    await desk.close()

        run(serve())


def describe_course(server: LeagueServer, league_id: str) -> str | None:
    """Return how far a league is, in a few words; None if it is not run here."""
    hosted = server.directory.get(league_id)
    return describe_season(hosted.league.season) if hosted else None


def describe_season(season: Season) -> str:
    """Return how far a season is, in a few words."""
    players = len(season.players or season.roster.entries())
    if season.stage is Stage.REGISTRATION:
        return "registration closed" if season.registration_closed else "registration open"
    if season.stage is Stage.COMPLETED:
        return "over"
    course = f"round {season.round_id} of {season.total_rounds}, {players} players"
    return f"paused in {course}" if season.paused else course


def find_token(shared: Path) -> tuple[str, bool]:
    """Return the token of the staff, and whether it is new."""
    given = os.environ.get(TOKEN_VARIABLE)
    if given:
        return given, False
    file = shared / "state" / SERVER_FILE
    known = load_identity(file)
    if known is not None:
        return known.token, False
    token = tokens.new_token("server")
    save_identity(file, Identity("server", token))
    return token, True


def load_token(shared: Path) -> str | None:
    """Return the token of the staff, as this folder or the environment has it."""
    known = load_identity(shared / "state" / SERVER_FILE)
    return os.environ.get(TOKEN_VARIABLE) or (known.token if known else None)


def load_address(shared: Path) -> str | None:
    """Return where the server of a folder listens, if it runs."""
    try:
        return (shared / "state" / ADDRESS_FILE).read_text(encoding="utf-8")
    except OSError:
        return None


def _save_address(shared: Path, url: str | None) -> None:
    file = shared / "state" / ADDRESS_FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(url, encoding="utf-8") if url else file.unlink(missing_ok=True)
    except OSError as error:  # the leagues are played without it
        log.warning("the address of the server was not noted: %s", error)
