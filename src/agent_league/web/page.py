"""What a page is. The pages themselves are in `pages/`, one module each."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from agent_league.catalogue import Catalogue
from agent_league.vocabulary import Json
from agent_league.web.league_view import Data, LeagueView

Arguments: TypeAlias = Mapping[str, str]
"""The variables in the path of a page, and the values in its query."""


@dataclass(frozen=True)
class Page:
    """One page: its data come from a view, and its template makes HTML of them."""

    path: str
    """Where it is; it may have variables, as `/matches/{match_id}`."""
    template: str
    title: str
    load: Callable[[LeagueView, Arguments], Awaitable[Data | None]]
    """Returns what the page shows, or None if there is no such thing."""
    menu: tuple[int, str] | None = None
    """Its place and its name in the menu."""
    aliases: tuple[str, ...] = ()
    """Other paths of the same page."""
    document: Callable[[LeagueView], Json] | None = None
    """Returns the JSON twin, if that is not the data of the page."""
    refreshes: bool = True
    """Whether an open page follows the league."""
    is_shared: bool = True
    """Whether what one reader gets may be shown to others who ask soon after."""
    only_live: bool = False
    """Whether it makes sense only while the league is run."""


PAGES: Catalogue[Page] = Catalogue("agent_league.web.pages", attribute="page")


@cache
def list_pages() -> Sequence[Page]:
    """Return all pages in the order of the menu; those that are not in it come last."""
    return sorted(PAGES.values(), key=lambda page: page.menu or (math.inf, page.path))
