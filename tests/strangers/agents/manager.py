"""A third-party league manager: REGISTERED, no tokens, senders of its own.

It starts matches as --start says, takes any report with a winner in it, and prints the table.
"""

import itertools
import json
import threading
import time
from typing import Any

from strangers.agents import kit

ME = "manager:MANAGER"
asked = kit.options()
players: dict[str, str] = {}
referees: dict[str, str] = {}
results: dict[str, str | None] = {}
changed = threading.Condition()


def register(reply: Any) -> Any:
    role = "player" if "player_meta" in reply else "referee"
    url = reply[f"{role}_meta"]["contact_endpoint"]
    known = players if role == "player" else referees
    with changed:
        who = f"{role[0].upper()}{len(known) + 1}"
        known[who] = url
        changed.notify_all()
    kind = reply["message_type"].replace("REQUEST", "RESPONSE")
    fields = {"status": "REGISTERED", f"{role}_id": who}
    return {"message_type": kind, "protocol": "league.v2", "sender": ME, **fields}


def report(reply: Any) -> Any:
    with changed:
        results.setdefault(reply["match_id"], reply["result"]["winner"])
        changed.notify_all()
    return {"status": "recorded"}


def answer(frame: Any) -> tuple[int, Any]:
    reply = frame.get("params", {})
    if reply.get("message_type", "").endswith("REGISTER_REQUEST"):
        return 200, kit.result(frame, register(reply))
    if reply.get("message_type") == "MATCH_RESULT_REPORT":
        return 200, kit.result(frame, report(reply))
    return kit.unknown(frame)


def wait_for(condition: Any) -> None:
    with changed:
        if not changed.wait_for(condition, timeout=20):
            raise SystemExit(f"waited in vain: {players} {referees} {results}")


def envelope(kind: str, **fields: Any) -> Any:
    return {**kit.envelope(kind, ME, **fields), "timestamp": kit.now("%Y%m%dT%H:%M:%SZ")}


def start(match_id: str, pair: tuple[str, str], referee: str) -> None:
    round_id = int(match_id[1:].split("M", maxsplit=1)[0])
    who = {f"player_{s}_id": p for s, p in zip("AB", pair, strict=True)}
    where = {f"player_{s}_endpoint": players[p] for s, p in zip("AB", pair, strict=True)}
    match = {"match_id": match_id, "game_type": "even_odd", **who, **where}
    listed = [{"player_id": p, "endpoint": players[p]} for p in pair]
    forms: dict[str, Any] = {
        "ROUND_ANNOUNCEMENT": {"matches": [{**match, "referee_endpoint": referees[referee]}]},
        "MATCH_ASSIGNMENT": match,
        "START_MATCH": {"match_id": match_id, "game_type": "even_odd", "players": listed},
    }
    reply = forms.get(asked.start)
    common = {"league_id": "foreign", "round_id": round_id}
    if reply is None:  # run_match, assign_match: a tool with arguments, and no message at all
        body = kit.call(asked.start, {**common, **match})
    else:
        body = kit.call(asked.start, envelope(asked.start, **common, **reply))
    print(
        json.dumps({"started": match_id, "answer": kit.post(referees[referee], body)}), flush=True
    )


listening = kit.server(asked.port, answer)
kit.serve(listening)
print(json.dumps({"endpoint": kit.endpoint(listening)}), flush=True)
wait_for(lambda: len(players) >= asked.players and referees)
time.sleep(0.3)  # noqa: TID251 - the last answer is still on its way
for number, pair in enumerate(itertools.combinations(players, 2), 1):
    match_id = f"R{number}M1"
    if asked.start != "ROUND_ANNOUNCEMENT":
        announced = [{"match_id": match_id, "player_A_id": pair[0], "player_B_id": pair[1]}]
        announced[0] |= {"game_type": "even_odd", "referee_endpoint": next(iter(referees.values()))}
        fields = {"league_id": "foreign", "round_id": number, "matches": announced}
        for url in players.values():
            kit.post(url, kit.call("notify_round", envelope("ROUND_ANNOUNCEMENT", **fields)))
    start(match_id, pair, next(iter(referees)))
    wait_for(lambda: match_id in results)  # noqa: B023
places = [{"rank": n, "player_id": who, "points": 0} for n, who in enumerate(players, 1)]
champion = {"player_id": places[0]["player_id"], "display_name": "any", "points": 0}
totals = {"league_id": "foreign", "total_rounds": len(results), "total_matches": len(results)}
last = envelope("LEAGUE_COMPLETED", **totals, champion=champion, final_standings=places)
for url in [*players.values(), *referees.values()]:
    kit.post(url, kit.call("LEAGUE_COMPLETED", last))
print(json.dumps({"results": results}), flush=True)
