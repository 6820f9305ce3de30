"""A player made with FastMCP, which refuses arguments that it did not declare."""

import sys

from fastmcp import FastMCP

port, mode = int(sys.argv[1]), sys.argv[2]
server = FastMCP("Fast")


def choose_parity(match_id: str, deadline: str) -> str:
    return "even"


def update_standings(standings: list[dict[str, object]]) -> int:
    return len(standings)


server.tool(choose_parity)
server.tool(update_standings)
if mode == "stdio":
    server.run("stdio", show_banner=False)
else:
    server.run(
        "http",
        host="127.0.0.1",
        port=port,
        stateless_http="stateless" in mode,
        json_response="json" in mode,
        show_banner=False,
    )
