"""Take pictures of every page, light, dark and on a phone, with 4 and with 100 players.

All of them go to .cache/screenshots, to be looked at; three go to docs/images, for the README.
It needs chromium, and plays its leagues itself.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from agent_league.web.page import list_pages

ROOT = Path(__file__).parent.parent
OUT, IMAGES = ROOT / ".cache" / "screenshots", ROOT / "docs" / "images"
VARIABLES = {"match_id": "R1M1", "agent_id": "P01", "referee_id": "REF01"}
LEAGUE = [sys.executable, "-m", "agent_league"]
SIZES = (4, 100)


class Look(NamedTuple):
    """How a page is looked at."""

    name: str
    scheme: Literal["light", "dark"]
    width: int
    height: int


LOOKS = (
    Look("light", "light", 1280, 900),
    Look("dark", "dark", 1280, 900),
    Look("phone", "light", 390, 844),
)
SHOWN = {
    "live": (100, "/", LOOKS[0]),
    "match": (4, "/matches/R1M1", LOOKS[0]),
    "agent": (100, "/agents/P01", LOOKS[1]),
}
"""The pictures of the README: how many players, which page, how it is looked at."""


@contextmanager
def serve_league(players: int) -> Iterator[str]:
    """Play a league, serve its pages, and return where they are."""
    with TemporaryDirectory() as folder:
        play = ["play", "--players", str(players), "--seed", "42", "--port-base", "0"]
        subprocess.run([*LEAGUE, *play, "--json"], cwd=folder, check=True, capture_output=True)  # noqa: S603 - our own command
        command = [*LEAGUE, "web", "--port", "0"]
        with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own command
            line = server.stderr.readline() if server.stderr else ""
            url = next(word for word in line.split() if word.startswith("http://"))
            try:
                yield f"{url}leagues/league_2025_even_odd"
            finally:
                server.terminate()


def take(browser: Browser, url: str, look: Look, file: Path, *, whole: bool) -> None:
    """Take a picture of the page at *url*; of all of it, or of what fits on the screen."""
    context = browser.new_context(
        viewport={"width": look.width, "height": look.height}, color_scheme=look.scheme
    )
    page = context.new_page()
    page.goto(url)
    page.screenshot(path=file, full_page=whole)
    context.close()


def main() -> int:
    """Play, serve and look; 1 if there is no browser."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("There is no chromium here.\nhint: sudo apt install chromium", file=sys.stderr)
        return 1
    OUT.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    paths = [one.path.format(**VARIABLES) for one in list_pages() if not one.only_live]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for players in SIZES:
            with serve_league(players) as url:
                for path in [*paths, "/?wall"]:
                    for look in LOOKS:
                        name = path.strip("/").replace("/", "-").replace("?", "") or "live"
                        file = OUT / f"{players}-{name}-{look.name}.png"
                        take(browser, url + path, look, file, whole=players == SIZES[0])
                for name, (size, path, look) in SHOWN.items():
                    if size == players:
                        take(browser, url + path, look, IMAGES / f"{name}.png", whole=False)
        browser.close()
    print(f"Wrote {len(list(OUT.iterdir()))} pictures to {OUT.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
