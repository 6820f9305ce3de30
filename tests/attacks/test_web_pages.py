"""T9: a web page of somebody else, in a browser on the same network, can call no agent."""

from dataclasses import replace

import pytest

from agent_league.http.routing import Head, RefusalError, find_route
from agent_league.http.site import Site
from agent_league.serving.site import make_site
from end_to_end.http_league import HttpLeague, played


def route(site: Site, **headers: str) -> int:
    """Return the status with which a call with these headers is refused, or 200."""
    fields = tuple((name.encode(), text.encode()) for name, text in headers.items())
    head = Head("POST", "/mcp", b"", fields, "1.1", keep=True)
    try:
        find_route(site, head)
    except RefusalError as refusal:
        return refusal.answer.status
    return 200


@pytest.mark.parametrize("local", [True, False], ids=["on loopback", "on every interface"])
@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("evil.example:8000", "http://evil.example:8000", 421),
        ("127.0.0.1:8000", "http://evil.example", 403),
        ("127.0.0.1:8000", "null", 403),
        ("127.0.0.1:8000", "http://127.0.0.1:8000", 200),
    ],
)
def test_a_page_of_another_origin_or_under_a_borrowed_name_is_refused(
    host: str, origin: str, status: int, *, local: bool
) -> None:
    async def script(league: HttpLeague) -> None:
        site = replace(make_site(league.manager), local=local)
        assert route(site, host=host, origin=origin) == status

    played(script)


def test_an_agent_that_is_no_browser_may_use_any_name_of_a_public_league() -> None:
    async def script(league: HttpLeague) -> None:
        site = replace(make_site(league.manager), local=False)
        assert route(site, host="lab-server:8000") == 200

    played(script)


def test_a_form_of_a_web_page_is_refused() -> None:
    async def script(league: HttpLeague) -> None:
        kind = "application/x-www-form-urlencoded"
        assert route(make_site(league.manager), host="127.0.0.1", **{"content-type": kind}) == 415

    played(script)
