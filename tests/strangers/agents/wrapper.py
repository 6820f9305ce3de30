"""A player made with a tool kit: its answers are texts in content; calls without an id.

It registers before its own port listens, and says that it was ACCEPTED where it should accept.
"""

import json
from typing import Any

from strangers.agents import kit

over = kit.Over()
me = {"id": "wrapper"}


def text(frame: Any, message: Any) -> tuple[int, Any]:
    return 200, kit.result(frame, {"content": [{"type": "text", "text": json.dumps(message)}]})


def answer(frame: Any) -> tuple[int, Any]:
    asked = frame.get("params", {})
    if frame.get("method") == "handle_game_invitation":
        return text(frame, kit.joined(me["id"], asked, status="ACCEPTED"))
    if frame.get("method") == "choose_parity":
        return text(frame, kit.chosen(me["id"], asked, parity_choice="odd"))
    if frame.get("method") == "notify_league_completed":
        over.set()
    if asked.get("message_type"):
        return 200, kit.result(frame, {"content": []})
    return kit.unknown(frame)


asked = kit.options()
listening = kit.server(asked.port, answer)
url = kit.endpoint(listening)
listening.server_close()
player_meta = kit.meta(url, "Wrapper")
fields = {"player_meta": player_meta, "auth_token": None, "league_id": None}
wanted = kit.envelope("LEAGUE_REGISTER_REQUEST", "player:wrapper", **fields)
frame = kit.call("register_player", wanted)
del frame["id"]
me["id"] = kit.post(asked.manager, frame)["result"]["player_id"]
kit.serve(kit.server(int(url.rsplit(":", 1)[1].removesuffix("/mcp")), answer))
over.wait_and_leave()
