"""A league while it is played, seen in a real browser; and its organiser at work."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from agent_league.season.roster import Lifecycle
from browser.conftest import Watch
from browser.leagues import (
    LEAGUE,
    SLOW_UNTIL_HURRIED,
    find_violations,
    kill,
    league_process,
    load_kept_season,
    read_token,
    wait_until_served,
)
from free_ports import free_ports

NAMES = ("Ada", "<b>Bob</b>", "דנה", "Cem")


def read_table(page: Page) -> list[tuple[str, int]]:
    """Return the table in the page: names and points, in order."""
    names = page.locator("#table .who").all_inner_texts()
    points = page.locator("#table td.points").all_inner_texts()
    return [(name, int(one)) for name, one in zip(names, points, strict=True)]


def read_kept_table(folder: Path) -> list[tuple[str, int]]:
    return [(row.display_name, row.points) for row in load_kept_season(folder).standings()]


class Stage:
    """A league that waits for players, in processes of its own."""

    def __init__(self, folder: Path, stack: ExitStack, players: int) -> None:
        self._folder, self._stack = folder, stack
        self.port = free_ports(4)[0]  # the referee follows the manager
        self.url = f"http://127.0.0.1:{self.port}"
        self.manager = stack.enter_context(
            league_process(
                *("start", LEAGUE, "--players", str(players), "--referees", "1"),
                *("--port-base", str(self.port)),
                cwd=folder,
            )
        )
        wait_until_served(self.url)

    def add_player(self, name: str, *more: str) -> None:
        self._stack.enter_context(
            league_process(
                "player", self.url, "--port", "0", "--name", name, *more, cwd=self._folder
            )
        )

    def resume(self) -> None:
        self.manager = self._stack.enter_context(league_process("resume", LEAGUE, cwd=self._folder))
        wait_until_served(self.url)


def test_a_page_that_is_open_follows_a_league_to_its_end(
    page: Page, watch: Watch, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        stage = Stage(tmp_path, stack, players=4)
        page.goto(f"{stage.url}/")
        expect(page.locator("#round")).to_contain_text("Registration is open")
        expect(page.locator("#connection")).to_have_text("live")
        for name in NAMES:
            stage.add_player(name)
        expect(page.locator("#round")).to_contain_text("The league is over")
        stage.manager.wait()
        assert read_table(page) == read_kept_table(tmp_path)
        assert page.locator("#table b").count() == 0  # no name became markup


def test_a_page_recovers_by_itself_when_a_killed_league_goes_on(page: Page, tmp_path: Path) -> None:
    with ExitStack() as stack:
        stage = Stage(tmp_path, stack, players=4)
        page.goto(f"{stage.url}/")
        for name in NAMES[:2]:
            stage.add_player(name)
        expect(page.locator("#table tr")).to_have_count(2)
        kill(stage.manager)
        expect(page.locator("#connection")).to_contain_text("reconnecting")
        stage.resume()
        expect(page.locator("#connection")).to_have_text("live")
        for name in NAMES[2:]:
            stage.add_player(name)
        expect(page.locator("#round")).to_contain_text("The league is over")
        stage.manager.wait()
        assert read_table(page) == read_kept_table(tmp_path)


def test_other_pages_follow_too(page: Page, tmp_path: Path) -> None:
    with ExitStack() as stack:
        stage = Stage(tmp_path, stack, players=3)
        page.goto(f"{stage.url}/health")
        expect(page.locator("main tbody tr")).to_have_count(1)  # the referee
        stage.add_player("Ada")
        expect(page.locator("main tbody tr")).to_have_count(2)


def order(page: Page, tool: str, **fields: str) -> None:
    """Fill in a form of the organiser and send it."""
    form = page.locator(f'form[data-tool="{tool}"]')
    for name, value in fields.items():
        field = form.locator(f'[name="{name}"]')
        if field.evaluate("(one) => one.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    form.locator("button").click()


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_role("button", name="Use this token").click()
    expect(page.locator("#answer")).to_contain_text("is kept in this tab")


def test_the_organiser_pauses_voids_and_disqualifies_from_the_page(
    context: BrowserContext, page: Page, watch: Watch, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW_UNTIL_HURRIED)
    with ExitStack() as stack:
        stage = Stage(tmp_path, stack, players=6)
        live = context.new_page()
        live.goto(f"{stage.url}/")
        page.goto(f"{stage.url}/organiser")
        sign_in(page, read_token(tmp_path))
        assert find_violations(page) == []
        for number in range(6):
            stage.add_player(f"Player {number}", "--strategy", "slow.py")
        expect(live.locator("#news li.win, #news li.draw").first).to_be_visible()
        order(page, "pause_league")
        expect(page.locator("#answer")).to_contain_text("Done")
        expect(live.locator("#round")).to_contain_text("Paused")
        expect(page.locator("#course")).to_contain_text("paused")
        order(page, "void_match", match_id="R1M1", reason="a test")
        expect(page.locator("#answer")).to_contain_text("Done")
        order(page, "disqualify_agent", agent_id="P02", reason="a test too")
        expect(live.locator("#table .away")).to_contain_text("disqualified")
        order(page, "announce", text="Lunch <i>now</i>")
        expect(page.locator("#answer")).to_contain_text("Done")
        order(page, "resume_league")
        expect(page.locator("#answer")).to_contain_text("Done: Go on")
        (tmp_path / "hurry").touch()  # not before: the page is read again after every order
        expect(live.locator("#round")).to_contain_text("The league is over")
        stage.manager.wait()
        season = load_kept_season(tmp_path)
        assert season.voided == {"R1M1": "a test"}
        assert season.roster["P02"].state is Lifecycle.DISQUALIFIED
        assert read_table(live) == read_kept_table(tmp_path)


def test_the_page_of_the_organiser_fits_on_a_phone(page: Page, tmp_path: Path) -> None:
    with ExitStack() as stack:
        stage = Stage(tmp_path, stack, players=2)
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{stage.url}/organiser")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("token", ["", "tok-organiser-wrong"])
def test_without_the_token_every_order_is_refused(page: Page, tmp_path: Path, token: str) -> None:
    with ExitStack() as stack:
        stage = Stage(tmp_path, stack, players=2)
        page.goto(f"{stage.url}/organiser")
        if token:
            sign_in(page, token)
        tools = page.locator("form[data-tool]").evaluate_all(
            "(all) => all.map((one) => one.dataset.tool)"
        )
        assert len(tools) >= 8
        for tool in tools:
            answer = page.evaluate(
                """async ([tool, token]) => {
                  const body = { jsonrpc: "2.0", id: 1, method: tool, params: { reason: "x", text: "x", match_id: "R1M1", agent_id: "P01" } };
                  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
                  const answer = await fetch("/mcp", { method: "POST", headers, body: JSON.stringify(body) });
                  return JSON.stringify(await answer.json());
                }""",
                [tool, token],
            )
            assert json.loads(answer)["error"]["data"]["error_code"] in {"E011", "E012"}, tool


def test_another_page_cannot_give_orders_in_the_name_of_the_organiser(
    context: BrowserContext, page: Page, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        stage = Stage(tmp_path, stack, players=2)
        page.goto(f"{stage.url}/organiser")
        sign_in(page, read_token(tmp_path))
        stranger = context.new_page()
        # The same browser, another origin: localhost is not 127.0.0.1.
        other = stage.url.replace("127.0.0.1", "localhost")
        stranger.goto(f"{other}/")
        script = """async (url) => {
          const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "pause_league", params: {} });
          const results = [];
          for (const type of ["application/json", "text/plain"]) {
            try { results.push((await fetch(`${url}/mcp`, { method: "POST", headers: { "content-type": type }, body, mode: type === "text/plain" ? "no-cors" : "cors", credentials: "include" })).type); }
            catch (error) { results.push("refused"); }
          }
          return results;
        }"""
        stranger.evaluate(script, stage.url)
        expect(page.locator("#answer")).to_be_visible()
        page.goto(f"{stage.url}/")
        assert "Paused" not in page.locator("#round").inner_text()
    assert not load_kept_season(tmp_path).paused
