"""What every player of league.v1 does here; how it frames its messages is each one's own affair.

It takes document 000 at its word: a message that lacks a field, or has a wrong one, is an error.
"""

import argparse
import json
import re
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from strangers.agents import kit

HEX = "[0-9a-f]"
UUID = re.compile(f"{HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}}")
SENDER = re.compile(r"league_manager|referee|player_.+")
INSIDE = {
    "LEAGUE_START_ANNOUNCEMENT": "league_info",
    "GAME_INVITATION": "game_info",
    "GAME_START": "game_state",
    "PLAY_REQUEST": "game_state",
    "PLAY_VALIDATION": "validation",
    "GAME_RESULT": "result",
    "ROUND_COMPLETE": "round_summary",
    "LEAGUE_COMPLETE": "final_standings",
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--manager", required=True)
    parser.add_argument("--log", default="")
    parser.add_argument("--name", default="")
    return parser.parse_args()


def now() -> str:
    return datetime.now(UTC).isoformat()  # noqa: TID251


class Player:
    """Answers messages, and writes down everything that it hears and says."""

    def __init__(self, choose: Callable[[Any], str]) -> None:
        self.choose = choose
        self.player_id = "player_candidate"
        self.received: list[Any] = []
        self.over = kit.Over()
        self.lock = threading.Lock()

    def application(self, name: str, endpoint: str) -> Any:
        asked = {
            "protocol": "league.v1",
            "message_type": "LEAGUE_REGISTER_REQUEST",
            "league_id": str(uuid.uuid4()),
            "round_id": 0,
            "match_id": "REGISTRATION",
            "conversation_id": str(uuid.uuid4()),
            "sender": "player_candidate",
            "timestamp": now(),
            "player_meta": {
                "display_name": name,
                "version": "1.0.0",
                "game_types": ["even_odd"],
                "contact_endpoint": endpoint,
            },
        }
        self.received.append(asked)
        return asked

    def admitted(self, response: Any) -> None:
        self.received.append(response)
        check(response)
        if response["status"] != "ACCEPTED":
            raise SystemExit(f"rejected: {response['reason']}")
        self.player_id = response["player_id"]

    def answer(self, message: Any) -> Any:
        """Return the answer to *message*, or raise `ValueError`."""
        check(message)
        kind = message["message_type"]
        with self.lock:
            self.received.append(message)
        if kind == "LEAGUE_COMPLETE":
            self.over.set()
        if kind == "GAME_INVITATION":
            return self.send("GAME_INVITATION_RESPONSE", message, status="READY")
        if kind == "PLAY_REQUEST":
            play = {"action": "choose", "value": self.choose(message), "reasoning": "because"}
            return self.send("PLAY_RESPONSE", message, play=play)
        return {"status": "ok"}

    def send(self, kind: str, to: Any, **fields: Any) -> Any:
        common = ("protocol", "league_id", "round_id", "match_id", "conversation_id")
        own = {"message_type": kind, "sender": self.player_id, "timestamp": now()}
        reply = {**{key: to[key] for key in common}, **own, **fields}
        with self.lock:
            self.received.append(reply)
        return reply

    def leave(self, log: str) -> None:
        """Wait for the end of the league, and write down what was send."""
        self.over.wait_and_leave()
        if log:
            with open(log, "w", encoding="utf-8") as file:  # noqa: PTH123
                json.dump(self.received, file)


def check(message: Any) -> None:
    wrong = [
        message.get("protocol") != "league.v1",
        not UUID.fullmatch(message.get("league_id", "")),
        not UUID.fullmatch(message.get("conversation_id", "")),
        not SENDER.fullmatch(message.get("sender", "")),
        type(message.get("round_id")) is not int,
        not message.get("match_id"),
        not message.get("timestamp"),
        INSIDE.get(message["message_type"], "protocol") not in message,
    ]
    if any(wrong):
        raise ValueError(f"protocol violation {wrong}: {json.dumps(message)[:500]}")


def play(
    name: str,
    choose: Callable[[Any], str],
    frame: Callable[[Any], Any],
    unframe: Callable[[Any], Any],
    serve: Callable[[Any, Player], tuple[int, Any]],
) -> None:
    """Register, play a whole league, and leave."""
    asked, player = options(), Player(choose)
    listening = kit.server(0, lambda body: serve(body, player))
    kit.serve(listening)
    called = asked.name or name
    endpoint = f"mcp://127.0.0.1:{listening.server_address[1]}/{called.lower()}"
    player.admitted(unframe(kit.post(asked.manager, frame(player.application(called, endpoint)))))
    player.leave(asked.log)
