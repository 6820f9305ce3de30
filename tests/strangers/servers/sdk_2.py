"""A player made with the official library, version 2: answers with a structured move."""

import sys

from mcp.server import MCPServer

port, mode = int(sys.argv[1]), sys.argv[2]
server = MCPServer("Second")


def choose_parity(match_id: str, player_id: str, opponent_id: str) -> dict[str, str]:
    return {"parity_choice": "even" if len(match_id) % 2 else "odd"}


def notify_match_result(match_id: str, game_result: dict[str, object]) -> str:
    return "noted"


server.add_tool(choose_parity)
server.add_tool(notify_match_result)
if mode == "stdio":
    server.run("stdio")
else:
    server.run(
        "streamable-http",
        host="127.0.0.1",
        port=port,
        stateless_http="stateless" in mode,
        json_response="json" in mode,
    )
