"""A real browser, real processes, and leagues to look at. Without a browser the tests are skipped."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from browser.leagues import apart, league_process, wait_until_served
from free_ports import free_port
from web.played import play_league

expect.set_options(timeout=60_000)  # a busy machine may take its time
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium here (hint: apt-get install chromium)")
    with sync_playwright() as playwright:
        # As root, chromium starts only without its sandbox.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


class Watch:
    """What a page did beyond showing itself."""

    def __init__(self, page: Page) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on(
            "console", lambda one: self.errors.append(one.text) if one.type == "error" else None
        )
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        self.requests.append(request.url)

    @property
    def strangers(self) -> list[str]:
        """The requests that left this machine."""
        return [url for url in self.requests if urlsplit(url).hostname != "127.0.0.1"]


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(60_000)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def watch(page: Page) -> Iterator[Watch]:
    """Fail a test whose page logged an error or called another machine."""
    watching = Watch(page)
    yield watching
    assert watching.strangers == []
    assert watching.errors == []


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a league of four players with hostile names, and return the address of its pages."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "SHARED").mkdir()
    apart(lambda: play_league(folder / "SHARED" / "league.db"))
    with _served(folder) as url:
        yield f"{url}/leagues/league_2025_even_odd"


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a league of thirty players, and return the address of its pages."""
    folder = tmp_path_factory.mktemp("large")
    with league_process(
        "play", "--players", "30", "--seed", "1", "--port-base", "0", cwd=folder
    ) as played:
        assert played.wait() == 0
    with _served(folder) as url:
        yield f"{url}/leagues/league_2025_even_odd"


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve the leagues of *folder* with `league web`, and return the address."""
    port = free_port()
    with league_process("web", "--port", str(port), cwd=folder):
        url = f"http://127.0.0.1:{port}"
        wait_until_served(url)
        yield url
