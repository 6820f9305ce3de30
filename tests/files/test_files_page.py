"""docs/files.md says every key of every configuration file, and its default, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import NODEFAULT, UNSET, inspect

from agent_league.files import (
    AgentsConfig,
    GamesRegistry,
    LeagueConfig,
    PlayerDefaults,
    RefereeDefaults,
    SystemConfig,
)

PAGE = (Path(__file__).parents[2] / "docs/files.md").read_text(encoding="utf-8")
SECTIONS: dict[str, dict[str, type[Any]]] = {
    "system.json": {"": SystemConfig},
    "agents/agents_config.json": {"": AgentsConfig},
    "leagues/LEAGUE_ID.json": {"": LeagueConfig},
    "games/games_registry.json, defaults/referee.json, defaults/player.json": {
        "": GamesRegistry,
        "referee": RefereeDefaults,
        "player": PlayerDefaults,
    },
}


def keys(kind: type[Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every key of a model, and its default as the page writes it."""
    for field in msgspec.structs.fields(kind):
        inner = inspect.type_info(field.type)
        if isinstance(inner, inspect.StructType):
            yield from keys(inner.cls, f"{path}{field.encode_name}.")
        elif isinstance(inner, inspect.VarTupleType) and isinstance(
            inner.item_type, inspect.StructType
        ):
            yield from keys(inner.item_type.cls, f"{path}{field.encode_name}[].")
        else:
            yield f"{path}{field.encode_name}", default_of(field)


def default_of(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    if field.default is UNSET:
        return "none"
    default = field.default if field.default is not NODEFAULT else field.default_factory()
    written = msgspec.json.encode(default).decode()
    return f"`{written.replace(',', ', ')}`"


def documented(section: str, *, marked: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield the agent, key and default of every row under a heading, or only of *marked* keys."""
    (table,) = re.findall(
        rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL
    )
    for row in re.findall(r"^\| (?!key|---)(.*) \|$", table, re.MULTILINE):
        names, defaults, _ = (cell.strip() for cell in re.split(r"(?<!\\)\|", row))
        agent = names.partition(":")[0] if names[0] not in "`*" else ""
        pattern = r"`[^`]*`|none|required"
        reply = re.findall(r"`([^`]+)`\*?(†?)", names)
        for (name, mark), default in zip(reply, re.findall(pattern, defaults), strict=True):
            if mark or not marked:
                yield agent, name, default


def test_every_key_is_documented_with_its_default() -> None:
    for section, kinds in SECTIONS.items():
        reply = sorted(documented(section))
        assert reply == sorted(
            (agent, name, default) for agent, kind in kinds.items() for name, default in keys(kind)
        )


def test_the_page_is_short() -> None:
    assert len(PAGE.splitlines()) < 120


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})  # noqa: S102 - the example is ours
    assert (tmp_path / "SHARED/logs/agents/my_agent.log.jsonl").exists()
