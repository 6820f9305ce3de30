"""A player that says RECEIVED, and posts its real answer to the referee a moment later."""

import threading
from typing import Any

from strangers.agents import kit

over = kit.Over()
announced = threading.Event()
me = {"id": "later"}
referees: dict[str, str] = {}


def send(message: Any) -> None:
    """Post an answer to the referee of its match, once that was announced."""
    while message["match_id"] not in referees:
        announced.wait(0.05)
    kit.post(referees[message["match_id"]], kit.call(message["message_type"], message, 7))


def received(frame: Any, message: Any) -> tuple[int, Any]:
    token = frame["params"]["auth_token"]
    threading.Thread(target=send, args=({**message, "auth_token": token},), daemon=True).start()
    return 200, kit.result(frame, {"status": "RECEIVED"})


def answer(frame: Any) -> tuple[int, Any]:
    asked = frame.get("params", {})
    if frame.get("method") == "notify_round":
        referees.update({m["match_id"]: m["referee_endpoint"] for m in asked["matches"]})
        announced.set()
    if frame.get("method") == "handle_game_invitation":
        return received(frame, kit.joined(me["id"], asked, accept=True))
    if frame.get("method") == "choose_parity":
        return received(frame, kit.chosen(me["id"], asked, parity_choice="even"))
    if frame.get("method") == "notify_league_completed":
        over.set()
    return (200, kit.result(frame, {"status": "ok"})) if asked else kit.unknown(frame)


asked = kit.options()
listening = kit.server(asked.port, answer)
kit.serve(listening)
player_meta = kit.meta(kit.endpoint(listening), "Later")
wanted = kit.envelope("LEAGUE_REGISTER_REQUEST", "player:later", player_meta=player_meta)
me["id"] = kit.post(asked.manager, kit.call("register_player", wanted))["result"]["player_id"]
over.wait_and_leave()
