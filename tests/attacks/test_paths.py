"""T15: nothing that a stranger sends becomes part of a path: neither of a file, nor of a page."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agent_league.files.views import export
from agent_league.vocabulary import Json
from agent_league.web.live_site import LiveSite
from attacks.stranger import Stranger, write
from end_to_end.http_league import HttpLeague, played
from timewarp import run_over_sockets

PATHS = ("../../x", "..", "/etc/passwd", "C:\\x", "CON", "a\0b", "x" * 300, "%2e%2e%2fx", "a/../b")
SECRET = b"[project]"
"""What the file begins with that a stranger wants to read."""
PAGES = (
    "/../../pyproject.toml",
    "/..%2f..%2fpyproject.toml",
    "/static/../../../../pyproject.toml",
    "/static/..%2f..%2f..%2f..%2fpyproject.toml",
    "/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/pyproject.toml",
    f"/static/{quote(str(Path(__file__).parents[2]))}/pyproject.toml",
    "/static/..\\..\\..\\..\\pyproject.toml",
    "/matches/..%2f..%2fpyproject.toml",
    "/players/../../pyproject.toml",
    "/contracts/../../../../pyproject.toml",
    "/static/%00",
)


async def register(league: HttpLeague, sender: str, name: str, **meta: Json) -> Any:
    own = {"display_name": name, "version": "1.0.0", "game_types": ["even_odd"], **meta}
    request = write("LEAGUE_REGISTER_REQUEST", sender, player_meta=own)
    return await Stranger(league).post(league.url, "register_player", request)


def test_ids_in_messages_never_name_a_file(tmp_path: Path) -> None:
    async def script(league: HttpLeague) -> None:
        await league.add_referee()
        players = [await league.add_player() for _ in range(2)]
        for path in PATHS:
            await register(league, f"player:{path}", "Eve", contact_endpoint=players[0].endpoint)
            await register(league, "player:eve", path, contact_endpoint=players[1].endpoint)
            for ids in ({"league_id": path, "match_id": "R1M1"}, {"match_id": path}):
                own: Json = {"round_id": 1, "game_type": "even_odd", "league_id": "any", **ids}
                result = {"winner": path, "score": {path: 3}, "details": {"P01": path}}
                report = write("MATCH_RESULT_REPORT", result=result, auth_token="x", **own)
                answer = await Stranger(league).post(league.url, "report_match_result", report)
                assert "error" in answer, path
        await league.play()

    league = played(script, awaited_players=2)
    root = tmp_path / "shared"
    export(league.events, root)
    cup = league.manager.settings.league_id
    wanted = {f"data/leagues/{cup}/{name}.json" for name in ("standings", "rounds")}
    wanted |= {f"data/matches/{cup}/R1M1.json"}
    wanted |= {f"data/players/{player}/history.json" for player in ("P01", "P02")}
    written = {str(f.relative_to(tmp_path)) for f in tmp_path.rglob("*") if f.is_file()}
    assert written == {f"shared/{name}" for name in wanted}


@pytest.mark.parametrize("path", PAGES)
def test_no_page_shows_a_file_outside(path: str) -> None:
    async def main() -> None:
        league = HttpLeague()
        manager = league.manager
        manager.spectators = LiveSite(manager.season, manager.events, manager.measure)
        async with league:
            base = league.url.removesuffix("/mcp")
            assert (await league.wire.get(f"{base}/static/style.css", 10.0)).status == 200
            answer = await league.wire.get(base + path, 10.0)
            assert answer.status in {400, 404}
            assert SECRET not in answer.body

    assert SECRET in (Path(__file__).parents[2] / "pyproject.toml").read_bytes()
    run_over_sockets(main())
