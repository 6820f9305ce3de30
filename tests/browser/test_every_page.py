"""Every page, in a real browser: accessible, narrow, without scripts, with nothing from elsewhere."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from agent_league.web.page import PAGES
from browser.conftest import Watch
from browser.leagues import find_violations, league_process
from web.played import HOSTILE

VARIABLES = {"match_id": "R1M1", "agent_id": "P01", "referee_id": "REF01"}
PATHS = [one.path.format(**VARIABLES) for one in PAGES.values() if not one.only_live]
PHONE = 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_no_violation(browser: Browser, kept: str, path: str, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]  # one of its words
    watch = Watch(page)
    page.goto(kept + path)
    for summary in page.locator("details > summary").all()[:2]:
        summary.click()
    assert find_violations(page) == []
    assert (watch.errors, watch.strangers) == ([], [])
    page.close()


@pytest.mark.parametrize("path", PATHS)
def test_nothing_overflows_on_a_phone(browser: Browser, kept: str, large: str, path: str) -> None:
    context = browser.new_context(
        viewport={"width": PHONE, "height": 844}, is_mobile=True, has_touch=True
    )
    page = context.new_page()
    for place in (kept, large):
        page.goto(place + path)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE
    context.close()


@pytest.mark.parametrize("path", PATHS)
def test_every_page_can_be_read_without_scripts(browser: Browser, kept: str, path: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(kept + path)
    expect(page.locator("h1")).to_be_visible()
    assert len(page.locator("main").inner_text()) > 50
    hidden = page.locator(".needs-script")
    assert all(not one.is_visible() for one in hidden.all())
    context.close()


def test_axe_would_find_a_violation(page: Page, kept: str) -> None:
    page.goto(f"{kept}/")
    page.evaluate("() => document.querySelector('.brand img').removeAttribute('alt')")
    assert [rule for rule, _ in find_violations(page)] == ["image-alt"]


def test_names_of_markup_and_of_other_scripts_are_shown_as_text(
    page: Page, watch: Watch, kept: str
) -> None:
    page.goto(f"{kept}/")
    shown = page.locator("#table .who bdi").all_inner_texts()
    assert sorted(shown) == sorted(HOSTILE)
    assert page.locator("#table img, #table script").count() == 0
    isolated = page.locator("#table .who bdi").first
    assert isolated.evaluate("(one) => getComputedStyle(one).unicodeBidi") == "isolate"


@pytest.mark.parametrize(
    "path", ["/", "/schedule", "/crosstable", "/matches/R1M1", "/agents/P01", "/log"]
)
def test_the_keyboard_reaches_everything(page: Page, watch: Watch, kept: str, path: str) -> None:
    page.goto(kept + path)
    marked = page.evaluate(
        """() => {
          const all = [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
            .filter((one) => one.checkVisibility() && !one.disabled);
          all.forEach((one, i) => { one.dataset.place = i; });
          return all.length;
        }"""
    )
    reached = set()
    for _ in range(marked + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.dataset.place ?? null"))
    assert {str(number) for number in range(marked)} - reached == set()


def test_the_theme_changes_and_stays(page: Page, watch: Watch, kept: str) -> None:
    page.goto(f"{kept}/")
    page.get_by_role("button", name="Change between dark and light").click()
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    page.goto(f"{kept}/schedule")
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"


def test_a_match_is_stepped_through_message_by_message(page: Page, watch: Watch, kept: str) -> None:
    page.goto(f"{kept}/matches/R1M1")
    page.get_by_role("button", name="First message").click()
    expect(page.locator("#step")).to_contain_text("message 1 of")
    assert page.locator(".sequence .later").count() > 5
    page.get_by_role("button", name="One message on").click()
    expect(page.locator("#step")).to_contain_text("message 2 of")
    page.get_by_role("button", name="All messages").click()
    assert page.locator(".sequence .later").count() == 0


def test_a_call_is_copied_as_a_command(
    context: BrowserContext, page: Page, watch: Watch, kept: str
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{kept}/matches/R1M1")
    page.locator("#message-1 summary").click()
    page.get_by_role("button", name="Copy as curl").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("curl -s http://127.0.0.1:")
    assert "handle_game_invitation" in copied


def test_a_wall_shows_the_table_and_no_menu(page: Page, watch: Watch, large: str) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"{large}/?wall")
    expect(page.locator("#table tr")).to_have_count(30)
    expect(page.locator("header nav")).to_be_hidden()


def test_a_report_opens_from_the_disk(page: Page, tmp_path: Path) -> None:
    watch = Watch(page)
    play = ("play", "--seed", "5", "--port-base", "0")
    for command in (play, ("report", "--out", "out")):
        with league_process(*command, cwd=tmp_path) as process:
            assert process.wait() == 0
    page.goto((tmp_path / "out" / "index.html").as_uri())
    expect(page.locator("#table tr")).to_have_count(4)
    page.locator("#news a.match").first.click()
    expect(page.locator("h1")).to_contain_text("Match R")
    page.locator(".result .who").first.click()
    expect(page.locator(".scores")).to_be_visible()
    assert watch.errors == []
    assert [one for one in watch.requests if not one.startswith("file:")] == []
