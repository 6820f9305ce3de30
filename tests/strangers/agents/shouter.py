"""A player to whom only MESSAGE_TYPES are methods; plural senders, times with two zones."""

from typing import Any

from strangers.agents import kit

TIME = "%Y-%m-%dT%H:%M:%S.123456+00:00Z"
over = kit.Over()
me = {"id": "shouter"}


def say(message: Any) -> Any:
    return {**message, "sender": f"players:{me['id']}", "timestamp": kit.now(TIME)}


def answer(frame: Any) -> tuple[int, Any]:
    asked = frame.get("params", {})
    if frame.get("method") == "GAME_INVITATION":
        ack = kit.joined(me["id"], asked, accept=True)
        return 200, kit.result(frame, say({**ack, "arrival_timestamp": kit.now("%Y%m%dT%H%M%SZ")}))
    if frame.get("method") == "CHOOSE_PARITY_CALL":
        return 200, kit.result(frame, say(kit.chosen(me["id"], asked, choice="even")))
    if frame.get("method") == "LEAGUE_COMPLETED":
        over.set()
    return (200, kit.result(frame, "OK")) if frame["method"].isupper() else kit.unknown(frame)


asked = kit.options()
listening = kit.server(asked.port, answer)
kit.serve(listening)
player_meta = kit.meta(kit.endpoint(listening), "Shouter")
wanted = kit.envelope("LEAGUE_REGISTER_REQUEST", "", player_meta=player_meta)
got = kit.post(asked.manager, kit.call("LEAGUE_REGISTER_REQUEST", say(wanted), "reg-1"))
me["id"] = got["result"]["player_id"]
over.wait_and_leave()
