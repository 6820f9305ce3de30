"""A player that takes only what stands in its examples: whole seconds, LM01, the known fields."""

import re
from typing import Any

from strangers.agents import kit

over = kit.Over()
me = {"id": "picky"}
SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
ENVELOPE = {"protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token"}
KNOWN = {
    "GAME_INVITATION": {"league_id", "round_id", "match_id", "game_type", "role_in_match"}
    | {"opponent_id"},
    "CHOOSE_PARITY_CALL": {"match_id", "player_id", "game_type", "context", "deadline"},
    "GAME_ERROR": {"match_id", "error_code", "error_description", "affected_player"}
    | {"action_required", "retry_info", "consequence"},
    "LEAGUE_STANDINGS_UPDATE": {"league_id", "round_id", "standings"},
}


def problem(asked: Any) -> str | None:
    kind = asked.get("message_type")
    if not SECONDS.fullmatch(asked.get("timestamp", "")):
        return "bad timestamp"
    if not re.fullmatch(r"league_manager:LM01|referee:REF\d\d", asked["sender"]):
        return "unknown sender"
    if kind in KNOWN and set(asked) - ENVELOPE - KNOWN[kind]:
        return f"unknown fields {set(asked) - ENVELOPE - KNOWN[kind]}"
    return None


def answer(frame: Any) -> tuple[int, Any]:
    asked = frame.get("params", {})
    wrong = problem(asked)
    if wrong:
        return 200, kit.refused(frame, -32602, wrong)
    if asked["message_type"] == "GAME_INVITATION":
        ack = kit.envelope("GAME_JOIN_ACK", f"player:{me['id']}", match_id=asked["match_id"])
        fields = {"player_id": me["id"], "arrival_timestamp": kit.now(), "success": True}
        return 200, kit.result(frame, {**ack, **fields})
    if asked["message_type"] == "CHOOSE_PARITY_CALL":
        if not SECONDS.fullmatch(asked["deadline"]):
            return 200, kit.refused(frame, -32602, "bad deadline")
        return 200, kit.result(frame, kit.chosen(me["id"], asked, parity_choice="odd"))
    if asked["message_type"] == "LEAGUE_COMPLETED":
        over.set()
    return 200, kit.result(frame, {"status": "ok"})


asked = kit.options()
listening = kit.server(asked.port, answer)
kit.serve(listening)
player_meta = kit.meta(kit.endpoint(listening), "Picky")
wanted = kit.envelope("LEAGUE_REGISTER_REQUEST", "player:picky", player_meta=player_meta)
me["id"] = kit.post(asked.manager, kit.call("register_player", wanted))["result"]["player_id"]
over.wait_and_leave()
