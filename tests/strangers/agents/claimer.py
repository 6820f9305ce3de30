"""A player that is P01, whatever the league says, and registers until it hears REGISTERED."""

import threading
from typing import Any

from strangers.agents import kit

over = kit.Over()
ME = "P01"


def answer(frame: Any) -> tuple[int, Any]:
    asked = frame.get("params", {})
    if frame.get("method") == "handle_game_invitation":
        return 200, kit.result(frame, kit.joined(ME, asked, accept=True))
    if frame.get("method") == "choose_parity":
        if asked["player_id"] != ME or asked["context"]["opponent_id"] == ME:
            return 200, kit.refused(frame, -32000, f"I am {ME}, not {asked['player_id']}")
        return 200, kit.result(frame, kit.chosen(ME, asked, parity_choice="even"))
    if frame.get("method") == "notify_league_completed":
        over.set()
    return (200, kit.result(frame, {"status": "ok"})) if asked else kit.unknown(frame)


asked = kit.options()
listening = kit.server(asked.port, answer)
kit.serve(listening)
player_meta = kit.meta(kit.endpoint(listening), "Claimer")
wanted = kit.envelope("LEAGUE_REGISTER_REQUEST", f"player:{ME}", player_meta=player_meta)
while kit.post(asked.manager, kit.call("register_player", wanted))["result"]["status"] not in (
    "REGISTERED",
    "REJECTED",
):
    threading.Event().wait(0.2)
kit.post(asked.manager, kit.call("register_player", wanted))  # it cannot hurt
over.wait_and_leave()
