"""A referee that is started in a way of its own (--start), and reports in another (--report)."""

import threading
from typing import Any

from strangers.agents import kit, whistle

over = kit.Over()
me: dict[str, Any] = {}
asked = kit.options()


def matches(frame: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the matches that a frame asks to be played, as far as this referee understands it."""
    reply = frame.get("params", {})
    if asked.start not in (frame.get("method"), reply.get("message_type")):
        return []
    if asked.start == "ROUND_ANNOUNCEMENT":
        return [one(m) for m in reply["matches"] if m["referee_endpoint"] == url]
    return [one(reply)]


def one(match: Any) -> tuple[str, list[tuple[str, str]]]:
    if asked.start in {"run_match", "START_MATCH"}:
        return match["match_id"], [(p["player_id"], p["endpoint"]) for p in match["players"]]
    return match["match_id"], [
        (match[f"player_{s}_id"], match[f"player_{s}_endpoint"]) for s in "AB"
    ]


def referee(match_id: str, players: list[tuple[str, str]]) -> None:
    winner, details = whistle.play(match_id, players, f"referee:{me['referee_id']}")
    report = whistle.REPORTS[asked.report](winner, [who for who, _ in players], details)
    fields = {"auth_token": me["auth_token"], "match_id": match_id, **report}
    fields |= {"league_id": "any", "round_id": int(match_id[1:].split("M", maxsplit=1)[0])}
    reply = kit.envelope("MATCH_RESULT_REPORT", f"referee:{me['referee_id']}", **fields)
    kit.post(asked.manager, kit.call("report_match_result", {**reply, "game_type": "even_odd"}))


def answer(frame: Any) -> tuple[int, Any]:
    found = matches(frame)
    for match in found:
        threading.Thread(target=referee, args=match, daemon=True).start()
    if frame.get("method") == "notify_league_completed":
        over.set()
    if found or frame.get("params", {}).get("message_type") in {
        "ROUND_COMPLETED",
        "LEAGUE_COMPLETED",
    }:
        return 200, kit.result(frame, {"status": "ok"})
    return kit.unknown(frame)


listening = kit.server(asked.port, answer)
kit.serve(listening)
url = kit.endpoint(listening)
referee_meta = kit.meta(url, f"Started by {asked.start}", max_concurrent_matches=None)
wanted = kit.envelope("REFEREE_REGISTER_REQUEST", "referee:whistle", referee_meta=referee_meta)
me.update(kit.post(asked.manager, kit.call("register_referee", wanted))["result"])
over.wait_and_leave()
