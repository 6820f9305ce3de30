"""Where agents listen, as files and third-party leagues list them: in objects of any shape."""

from collections.abc import Iterator, Mapping

from agent_league.vocabulary import Json

_ID_FIELDS = ("player_id", "agent_id", "id", "display_name", "name")
_ENDPOINT_FIELDS = ("endpoint", "contact_endpoint", "default_endpoint", "url")


def find_endpoints(content: Json) -> dict[str, str]:
    """Return the endpoints in *content*, by the id of the agent, and by its name if it has one."""
    found: dict[str, str] = {}
    for ids, endpoint in _iter_agents(content, ""):
        for agent_id in ids:
            found.setdefault(agent_id, endpoint)
    return found


def _iter_agents(node: Json, key: str) -> Iterator[tuple[list[str], str]]:
    """Yield every agent in *node*; one without an id is called as the *key* in front of it."""
    if isinstance(node, list):
        for item in node:
            yield from _iter_agents(item, "")
    if not isinstance(node, dict):
        return
    endpoint = _find_endpoint(node)
    ids = [node[field] for field in _ID_FIELDS if isinstance(node.get(field), str)]
    if endpoint and (ids or key):
        yield ids or [key], endpoint
    for name, value in node.items():
        yield from _iter_agents(value, name)


def _find_endpoint(node: Mapping[str, Json]) -> str | None:
    values = (node.get(field) for field in _ENDPOINT_FIELDS)
    return next((v for v in values if isinstance(v, str) and v.startswith("http")), None)
