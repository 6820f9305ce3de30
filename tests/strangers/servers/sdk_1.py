"""A player made with the official library, version 1: sessions, streams, answers in plain text."""

import sys

from mcp.server.fastmcp import FastMCP  # type: ignore[attr-defined]  # of the library as it was

port, mode = int(sys.argv[1]), sys.argv[2]
server = FastMCP(
    "First",
    host="127.0.0.1",
    port=port,
    stateless_http="stateless" in mode,
    json_response="json" in mode,
)


def choose_parity(match_id: str) -> str:
    return "odd"


def handle_game_invitation(match_id: str, round_id: int) -> dict[str, bool]:
    return {"accept": True}


server.add_tool(choose_parity)
server.add_tool(handle_game_invitation)
server.run("stdio" if mode == "stdio" else "streamable-http")
