"""A player that says ok to everything it does not know, and cannot be asked too often.

It knows the invitation by its tool and the move only by its type; an error is null beside.
"""

import itertools
from typing import Any

from strangers.agents import kit

over = kit.Over()
me = {"id": "okay"}
invitations = itertools.count(1)


def wrapped(frame: Any, message: Any) -> tuple[int, Any]:
    return 200, kit.result(frame, {"response": message}, error=None)


def answer(frame: Any) -> tuple[int, Any]:
    asked = frame.get("params", {})
    if frame.get("method") in {"handle_game_invitation", "GAME_INVITATION"}:
        if next(invitations) % 2 == 0:  # every second one comes too soon for its taste
            return 429, {"detail": "Too many requests"}
        return wrapped(frame, kit.joined(me["id"], asked, accept=True))
    if frame.get("method") == "CHOOSE_PARITY_CALL":
        return wrapped(frame, kit.chosen(me["id"], asked, parity_choice="odd"))
    if frame.get("method") == "notify_league_completed":
        over.set()
    return 200, kit.result(frame, {"status": "ok"}, error=None)


asked = kit.options()
listening = kit.server(asked.port, answer)
kit.serve(listening)
player_meta = kit.meta(kit.endpoint(listening), "Okay")
wanted = kit.envelope("LEAGUE_REGISTER_REQUEST", "player:okay", player_meta=player_meta)
me["id"] = kit.post(asked.manager, kit.call("register_player", wanted))["result"]["player_id"]
over.wait_and_leave()
