"""An MCP server over stdio in one file and without a library, as anybody might write it.

`--mood` says what is wrong with it: `dies` after each call, `floods`, `mute`, `chatty`,
`stubborn`: does not end with its input.
"""

import json
import os
import sys
import threading
from typing import Any

MOOD = sys.argv[-1] if "--mood" in sys.argv else "fine"
TOOL = {
    "name": "choose_parity",
    "inputSchema": {"type": "object", "properties": {"match_id": {"type": "string"}}},
}


def result_of(method: str, params: dict[str, Any]) -> Any:
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        reply = json.dumps([os.getpid(), params["arguments"]]) if MOOD == "dies" else "odd"
        return {"content": [{"type": "text", "text": reply}]}
    return None


def say(frame: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        found = result_of(asked["method"], asked.get("params", {}))
        calls = asked["method"] == "tools/call"
        if calls and MOOD == "floods":
            say({"flood": "x" * 3_000_000})
        if MOOD == "chatty":
            sys.stdout.write("Hello! I am a server.\n")
            say({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
            say({"jsonrpc": "2.0", "method": "ping", "id": asked["id"]})
        if calls and MOOD == "mute":
            continue
        if found is None:
            say({"jsonrpc": "2.0", "error": {"code": -32601, "message": "?"}, "id": asked["id"]})
        else:
            say({"jsonrpc": "2.0", "result": found, "id": asked["id"]})
        if calls and MOOD == "dies":
            return


if __name__ == "__main__":
    main()
    if MOOD == "stubborn":
        threading.Event().wait()
