"""The pages about MCP name the tools that a running league has, and no others."""

import re
from pathlib import Path

from cli.league_command import document, line_with, running

DOCS = Path(__file__).parent.parent / "docs"


def read_rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the table below *heading*, without its head."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    table = re.findall(r"^\| (.*) \|$", text.partition("\n## ")[0], re.MULTILINE)
    return [row.split(" | ") for row in table[2:]]


def test_the_tools_of_the_pages_are_those_of_a_manager() -> None:
    rows = read_rows("mcp-implementers.md", "Tools")
    of_manager = " ".join(tools for agent, tools in rows if agent.startswith("manager"))
    named = set(re.findall(r"`(\w+)`", of_manager))
    of_organiser = " ".join(
        row[0] for row in read_rows("mcp-organisers.md", "The organiser's tools")
    )
    with running("manager", "--port", "0", "--players", "2") as manager:
        token = line_with(manager, "organiser's token").split()[-1]
        url = line_with(manager, "Waiting").split()[-1]
        proof = ("--league", url, "--token", token, "--json")
        (agent,) = document("mcp", "ls", *proof)["agents"]
    listed = {tool["name"].rpartition(".")[2] for tool in agent["tools"]}
    assert set(re.findall(r"`(\w+)`", of_organiser)) <= listed
    assert listed - named == set()
    assert named - listed <= {"play_in_person"}


def test_the_tools_for_guests_are_on_their_page() -> None:
    with running("manager", "--port", "0", "--players", "2") as manager:
        url = line_with(manager, "Waiting").split()[-1]
        (agent,) = document("mcp", "ls", "--league", url, "--json")["agents"]
    page = (DOCS / "mcp-guests.md").read_text(encoding="utf-8")
    listed = {tool["name"].rpartition(".")[2] for tool in agent["tools"]}
    assert {tool for tool in listed if f"`{tool}`" not in page} <= {"get_standings"}
    assert len(read_rows("mcp-guests.md", "The tools")) == 3
