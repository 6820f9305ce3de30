"""A player that has never heard of JSON-RPC, and writes message types in small letters."""

from typing import Any

from strangers.agents import kit

over = kit.Over()
me = {"id": "?"}


def small(message: Any) -> Any:
    return {**message, "message_type": message["message_type"].lower()}


def answer(asked: Any) -> tuple[int, Any]:
    if asked.get("message_type") == "GAME_INVITATION":
        return 200, small(kit.joined(me["id"], asked, accept=True))
    if asked.get("message_type") == "CHOOSE_PARITY_CALL":
        return 200, small(kit.chosen(me["id"], asked, parity_choice="even"))
    if asked.get("message_type") == "LEAGUE_COMPLETED":
        over.set()
    if "message_type" in asked:
        return 200, {"ok": True}
    return 422, {"detail": "message_type is missing"}


asked = kit.options()
listening = kit.server(asked.port, answer)
kit.serve(listening)
player_meta = kit.meta(kit.endpoint(listening), "Bare")
wanted = small(kit.envelope("LEAGUE_REGISTER_REQUEST", "?", player_meta=player_meta))
del wanted["sender"], wanted["timestamp"]
me["id"] = kit.post(asked.manager, wanted)["player_id"]
over.wait_and_leave()
