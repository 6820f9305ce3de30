"""A player that says only what matters: no frame, no envelope."""

from typing import Any

from strangers.agents import kit

over = kit.Over()


def answer(frame: Any) -> tuple[int, Any]:
    kind = frame.get("params", {}).get("message_type")
    if kind == "GAME_INVITATION":
        return 200, {"accept": True}
    if kind == "CHOOSE_PARITY_CALL":
        return 200, {"parity_choice": "odd"}
    if kind == "LEAGUE_COMPLETED":
        over.set()
    return 200, {}


asked = kit.options()
listening = kit.server(asked.port, answer)
kit.serve(listening)
player_meta = kit.meta(kit.endpoint(listening), "Terse")
wanted = kit.envelope("LEAGUE_REGISTER_REQUEST", "player:terse", player_meta=player_meta)
kit.post(asked.manager, kit.call("register_player", wanted))
over.wait_and_leave()
