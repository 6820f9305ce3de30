"""Endpoints are found in lists of agents, whoever wrote them."""

from typing import Any

import pytest

from agent_league.protocol.addresses import find_endpoints

URL = "http://localhost:8101/mcp"


@pytest.mark.parametrize(
    "listed",
    [
        {"players": [{"player_id": "P01", "endpoint": URL}]},
        {"players": [{"agent_id": "P01", "default_endpoint": URL, "port": 8101}]},
        {"data": {"registrations": [{"id": "P01", "meta": 1, "contact_endpoint": URL}]}},
        {"agents": {"P01": {"url": URL}}},
        [{"display_name": "P01", "endpoint": URL}],
    ],
)
def test_an_agent_is_found_by_its_id_or_name(listed: Any) -> None:
    assert find_endpoints(listed)["P01"] == URL


@pytest.mark.parametrize("listed", [None, "P01", [], {"P01": URL}, {"players": [{"endpoint": 1}]}])
def test_what_lists_no_agent_gives_no_endpoint(listed: Any) -> None:
    assert find_endpoints(listed) == {}
