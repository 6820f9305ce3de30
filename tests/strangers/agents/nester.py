"""A player that puts messages one level down, invents methods, and answers in params."""

from typing import Any

from strangers.agents import kit

over = kit.Over()
me = {"id": "nester"}


def reply(kind: str, message: Any) -> tuple[int, Any]:
    return 200, kit.call(f"send_{kind}", message, "some-other-id")


def answer(frame: Any) -> tuple[int, Any]:
    asked = frame.get("params", {})
    if asked.get("message_type") == "GAME_INVITATION":
        return reply("ack", kit.joined(me["id"], asked, accepted=True))
    if asked.get("message_type") == "CHOOSE_PARITY_CALL":
        return reply("choice", kit.chosen(me["id"], asked, parity_choice="odd"))
    if asked.get("message_type") == "LEAGUE_COMPLETED":
        over.set()
    return 200, kit.result(frame, {"received": True})


asked = kit.options()
listening = kit.server(asked.port, answer)
kit.serve(listening)
player_meta = kit.meta(kit.endpoint(listening), "Nester")
wanted = kit.envelope("LEAGUE_REGISTER_REQUEST", "player:nester", player_meta=player_meta)
got = kit.post(asked.manager, kit.call("league.do_register", {"message": wanted}, "one"))
me["id"] = got["result"]["player_id"]
over.wait_and_leave()
