"""A referee that says ok to everything and understands nothing: it asks for its matches itself."""

import threading
from typing import Any

from strangers.agents import kit, whistle

over = kit.Over()
asked = kit.options()


def answer(frame: Any) -> tuple[int, Any]:
    if frame.get("params", {}).get("message_type") == "LEAGUE_COMPLETED":
        over.set()
    return 200, kit.result(frame, {"status": "ok"})


def next_match() -> Any:
    fields = {"auth_token": me["auth_token"], "query_type": "GET_MY_NEXT_MATCH"}
    reply = kit.envelope("LEAGUE_QUERY", f"referee:{me['referee_id']}", **fields)
    found = kit.post(asked.manager, kit.call("league_query", reply))["result"]
    return (found.get("data") or {}).get("next_match")


listening = kit.server(asked.port, answer)
kit.serve(listening)
referee_meta = kit.meta(kit.endpoint(listening), "Poller", max_concurrent_matches=1)
wanted = kit.envelope("REFEREE_REGISTER_REQUEST", "referee:poller", referee_meta=referee_meta)
me = kit.post(asked.manager, kit.call("register_referee", wanted))["result"]
while not over.is_set():
    match = next_match()
    if match is None:
        threading.Event().wait(0.1)
        continue
    players = [(match[f"player_{s}_id"], match[f"player_{s}_endpoint"]) for s in "AB"]
    winner, details = whistle.play(match["match_id"], players, f"referee:{me['referee_id']}")
    report = whistle.by_player(winner, [who for who, _ in players], details)
    fields = {"auth_token": me["auth_token"], "match_id": match["match_id"], **report}
    reply = kit.envelope("MATCH_RESULT_REPORT", f"referee:{me['referee_id']}", **fields)
    kit.post(asked.manager, kit.call("report_match_result", reply))
