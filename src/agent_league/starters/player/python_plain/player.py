"""A player for Agent League in plain Python: one file, no package but the standard library.

    python player.py --league http://127.0.0.1:8000/mcp

It listens at POST /mcp, registers with the league, and answers whoever asks. What it plays is
decided in `choose`: begin there. Everything below is the protocol, and may stay as it is.
"""

import argparse
import http.client
import json
import random
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

NAME = "Ada"  # what others see; 1 to 50 characters
VERSION = "1.0.0"
GAMES = ["even_odd", "tic_tac_toe"]


def choose(legal: Sequence[Any], view: Any, theirs: Sequence[Any]) -> Any:
    """Return one of the *legal* moves. This is yours: make it clever.

    In Even/Odd, legal is ["even", "odd"]. *view* is what the game shows you, and *theirs* is what
    this opponent played against you before, oldest first. You have 30 seconds; take one.
    """
    return random.choice(legal)


# ------------------------------------------------------------------- what a player may be told

# Each message, and the fields that it cannot do without.
MESSAGES = {
    "GAME_INVITATION": "league_id round_id match_id game_type role_in_match opponent_id",
    "CHOOSE_PARITY_CALL": "match_id player_id game_type deadline",
    "GAME_MOVE_CALL": "match_id player_id game_type deadline legal_moves",
    "GAME_OVER": "match_id game_type game_result",
    "GAME_ERROR": "match_id error_code error_description affected_player action_required"
    " consequence",
    "LEAGUE_ERROR": "error_code error_description original_message_type",
    "ROUND_ANNOUNCEMENT": "league_id round_id matches",
    "ROUND_COMPLETED": "league_id round_id matches_completed summary",
    "LEAGUE_STANDINGS_UPDATE": "league_id round_id standings",
    "LEAGUE_COMPLETED": "league_id total_rounds total_matches champion final_standings",
}
ENVELOPE = "protocol sender timestamp conversation_id"
# The methods by which they are called. The message says what it is; the method need not.
TOOLS = """handle_game_invitation choose_parity choose_move notify_match_result notify_game_error
    notify_league_error notify_round notify_round_completed update_standings
    notify_league_completed""".split()
# A field is text, unless it stands here.
KINDS: dict[str, type] = {
    **dict.fromkeys(("round_id", "matches_completed", "total_rounds", "total_matches"), int),
    **dict.fromkeys(("matches", "standings", "final_standings", "legal_moves"), list),
    **dict.fromkeys(("game_result", "summary", "champion"), dict),
}
ALLOWED = {
    "sender": r"league_manager(:.+)?|(referee|player):.+",
    "role_in_match": "PLAYER_[AB]",
}
# Each way to be wrong has a code and a name in the league, and a number in JSON-RPC.
ERRORS = {
    "E003": ("MISSING_REQUIRED_FIELD", -32602),
    "E018": ("PROTOCOL_VERSION_MISMATCH", -32018),
    "E021": ("INVALID_TIMESTAMP", -32602),
    "E022": ("INVALID_FIELD_VALUE", -32602),
    "E023": ("UNKNOWN_MESSAGE_TYPE", -32601),
}


class WrongMessageError(Exception):
    """A message that breaks the protocol; its sender is told the code and the detail."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def check(message: Any, method: str) -> None:
    """Raise `WrongMessageError` unless *message* is whole: a wrong one is refused, not guessed at."""
    kind = message.get("message_type") if isinstance(message, dict) else None
    if kind is None and method in TOOLS:
        raise WrongMessageError("E003", "message_type: a required field is missing")
    if not isinstance(kind, str) or kind.upper() not in MESSAGES:
        raise WrongMessageError("E023", f"a player knows no {kind or method!r:.60}")
    if kind not in MESSAGES:
        raise WrongMessageError("E022", "message_type: expected it in capitals")
    for field in f"{ENVELOPE} {MESSAGES[kind]}".split():
        check_field(field, message.get(field))


def check_field(field: str, value: Any) -> None:
    """Raise `WrongMessageError` unless *value* may stand in *field*."""
    if value is None:
        raise WrongMessageError("E003", f"{field}: a required field is missing")
    if field == "protocol" and value != "league.v2":
        raise WrongMessageError("E018", "protocol: expected league.v2")
    if field in ("timestamp", "deadline") and not is_utc(value):
        raise WrongMessageError("E021", f"{field}: expected UTC, as 2025-01-15T10:30:00Z")
    kind = KINDS.get(field, str)
    if type(value) is not kind or value == "":
        raise WrongMessageError("E022", f"{field}: expected {kind.__name__}")
    if isinstance(value, int) and not (field == "round_id") <= value < 2**31:
        raise WrongMessageError("E022", f"{field}: expected a number that can be")
    if field in ALLOWED and not re.fullmatch(ALLOWED[field], str(value)):
        raise WrongMessageError("E022", f"{field}: expected {ALLOWED[field]}")


def is_utc(written: Any) -> bool:
    try:
        return "T" in written and datetime.fromisoformat(written).utcoffset() == timedelta(0)
    except (TypeError, ValueError):
        return False


# --------------------------------------------------------------------------------- the player


class Player:
    """Answers each message; may be asked several things at once."""

    def __init__(self) -> None:
        self.player_id = "player"  # until the league gives it one
        self.turns: dict[tuple[str, str, str], Any] = {}
        self.theirs: dict[str, list[Any]] = defaultdict(list)
        self.lock = threading.Lock()  # every request has a thread of its own
        self.answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "GAME_INVITATION": self.join,
            "CHOOSE_PARITY_CALL": self.call_parity,
            "GAME_MOVE_CALL": self.make_move,
            "GAME_OVER": self.learn,
            "LEAGUE_COMPLETED": self.say_farewell,
        }

    def join(self, invitation: dict[str, Any]) -> dict[str, Any]:
        accept = invitation["game_type"] in GAMES
        return self.reply("GAME_JOIN_ACK", invitation, accept=accept, arrival_timestamp=now())

    def call_parity(self, call: dict[str, Any]) -> dict[str, Any]:
        choice = self.move(call, ["even", "odd"], {"choices": ["even", "odd"]})
        return self.reply("CHOOSE_PARITY_RESPONSE", call, parity_choice=choice)

    def make_move(self, call: dict[str, Any]) -> dict[str, Any]:
        move = self.move(call, call["legal_moves"], call.get("view"))
        return self.reply("GAME_MOVE_RESPONSE", call, move=move)

    def move(self, call: dict[str, Any], legal: Sequence[Any], view: Any) -> Any:
        """Choose once: a call that comes twice gets the same answer twice."""
        turn = (call["match_id"], call["conversation_id"], json.dumps(view))
        opponent = (call.get("context") or {}).get("opponent_id", "")
        if turn in self.turns:
            return self.turns[turn]
        move = choose(legal, view, tuple(self.theirs[opponent]))
        with self.lock:
            return self.turns.setdefault(turn, move)

    def learn(self, over: dict[str, Any]) -> dict[str, Any]:
        """Remember what the opponent played, once for each match."""
        match = (over["match_id"], over["conversation_id"])
        with self.lock:
            played = [turn for turn in self.turns if turn[:2] == match]
            for turn in played:
                del self.turns[turn]
            choices = over["game_result"].get("choices")
            for player, move in choices.items() if played and isinstance(choices, dict) else ():
                if player != self.player_id:
                    self.theirs[player].append(move)
        return {"status": "ok", "match_id": over["match_id"]}

    def say_farewell(self, notice: dict[str, Any]) -> dict[str, Any]:
        print(f"The league is over; the champion is {notice['champion'].get('display_name')}.")
        return {"status": "ok"}

    def reply(self, kind: str, asked: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Return an answer in the conversation that *asked* belongs to."""
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": f"player:{self.player_id}",
            "timestamp": now(),
            "conversation_id": asked["conversation_id"],
            # What the referee showed goes back to it. Our own token is for the league alone.
            **({"auth_token": asked["auth_token"]} if asked.get("auth_token") else {}),
            "match_id": asked["match_id"],
            "player_id": asked.get("player_id", self.player_id),
            **fields,
        }

    def answer(self, message: Any, method: str) -> dict[str, Any]:
        """Return the answer to *message*; most only want to hear that they arrived."""
        check(message, method)
        answered = self.answers.get(message["message_type"])
        return answered(message) if answered else {"status": "ok"}

    def refusal(self, error: WrongMessageError, message: Any) -> dict[str, Any]:
        asked = message if isinstance(message, dict) else {}
        return {
            "protocol": "league.v2",
            "message_type": "LEAGUE_ERROR",
            "sender": f"player:{self.player_id}",
            "timestamp": now(),
            "conversation_id": str(asked.get("conversation_id") or "conv-error"),
            "error_code": error.code,
            "error_name": ERRORS[error.code][0],
            "error_description": ERRORS[error.code][0],
            "original_message_type": str(asked.get("message_type") or "UNKNOWN"),
            "detail": str(error),
        }


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# ------------------------------------------------------------------- JSON-RPC 2.0, then HTTP


def framed(player: Player, body: bytes) -> tuple[int, Any]:
    """Return the HTTP status for *body* and the JSON to answer; None for no JSON at all."""
    try:
        frame = json.loads(body, parse_constant=int)  # int("NaN") raises: NaN is not JSON
    except (ValueError, RecursionError):
        return 200, rpc_error(None, -32700, "not JSON")
    if not isinstance(frame, dict):
        return 200, rpc_error(None, -32600, "not a JSON-RPC 2.0 request")
    return called(player, frame)


def called(player: Player, frame: dict[str, Any]) -> tuple[int, Any]:
    """Answer a call: an id of any type comes back as it came, and no id means no answer."""
    id_, method, params = frame.get("id"), frame.get("method"), frame.get("params", {})
    if isinstance(id_, bool | dict | list):
        return 200, rpc_error(None, -32600, "id: expected text, a number or null")
    if not isinstance(method, str) or not isinstance(params, dict | list):
        return 200, rpc_error(id_, -32600, "not a JSON-RPC 2.0 request")
    if frame.get("jsonrpc") != "2.0":
        return 200, rpc_error(id_, -32600, 'jsonrpc: expected "2.0"')
    try:
        result = {"jsonrpc": "2.0", "result": player.answer(params, method), "id": id_}
    except WrongMessageError as error:
        name, number = ERRORS[error.code]
        refusal = player.refusal(error, params)
        result = rpc_error(id_, number, f"{error.code} {name}: {error}", refusal)
    except Exception as error:  # whatever goes wrong here, the player stays
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        result = rpc_error(id_, -32603, "internal error")
    return (200, result) if "id" in frame else (202, None)


def rpc_error(id_: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message, **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "error": error, "id": id_}


class Door(BaseHTTPRequestHandler):
    """The endpoint: POST /mcp."""

    player: Player
    protocol_version = "HTTP/1.1"  # connections stay open: a league has much to say
    disable_nagle_algorithm = True  # answers are short, and somebody waits for each
    timeout = 60  # seconds after which a silent connection is closed
    longest = 4 * 1024 * 1024  # the table of a large league is longer than you think

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != "/mcp":
            self.send(404, {"error": f"there is nothing at {self.path}"}, close=True)
        elif not length.isdecimal():
            self.send(411, {"error": "say how long it is: Content-Length"}, close=True)
        elif int(length) > self.longest:
            self.send(413, {"error": "longer than I read"}, close=True)
        else:
            self.send(*framed(self.player, self.rfile.read(int(length))))

    def do_GET(self) -> None:
        about = {"agent": "player", "name": NAME, "endpoint": "/mcp"}
        pages = {"/": (200, about), "/mcp": (405, {"error": "only POST is allowed here"})}
        self.send(*pages.get(self.path, (404, {"error": f"there is nothing at {self.path}"})))

    def send(self, status: int, answer: Any, *, close: bool = False) -> None:
        body = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if close:  # what we did not read would be taken for the next request
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: a line for every request is too many."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # a round begins for everybody at once


# ------------------------------------------------------------------------------------ joining


def register(player: Player, league: str, endpoint: str) -> None:
    """Ask to be let in until somebody answers. The same endpoint gets the same id back."""
    request = {
        "protocol": "league.v2",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": f"player:{player.player_id}",
        "timestamp": now(),
        "conversation_id": "conv-register",
        "player_meta": {
            "display_name": NAME,
            "version": VERSION,
            "game_types": GAMES,
            "contact_endpoint": endpoint,
        },
    }
    call = {"jsonrpc": "2.0", "method": "register_player", "params": request, "id": 1}
    reply = insist(league, call)
    result = reply.get("result") or {}
    if result.get("status") != "ACCEPTED":
        sys.exit(f"The league did not let {NAME} in: {result.get('reason') or reply.get('error')}")
    player.player_id = result["player_id"]
    print(f"{NAME} is {player.player_id} in {result.get('league_id')}", flush=True)


def insist(league: str, call: dict[str, Any]) -> dict[str, Any]:
    """Return the league's answer, however long it takes the league to be there."""
    waiting = False
    while True:
        try:
            return post(league, call)
        except (OSError, http.client.HTTPException, ValueError):
            if not waiting:
                print(f"No league at {league} yet; I keep trying.", flush=True)
            waiting = True
            time.sleep(2)


def post(url: str, call: dict[str, Any]) -> dict[str, Any]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", parts.path, json.dumps(call), headers)
        answer = json.loads(connection.getresponse().read())
        return answer if isinstance(answer, dict) else {}
    finally:
        connection.close()


def main() -> None:
    asked = argparse.ArgumentParser(description=f"{NAME}, a player for Agent League.")
    asked.add_argument("--league", default="http://127.0.0.1:8000/mcp", help="where to register")
    asked.add_argument("--port", type=int, default=8101, help="where to listen; 0 for any")
    asked.add_argument("--host", default="127.0.0.1", help="the address that others reach")
    told = asked.parse_args()
    player = Player()
    Door.player = player
    try:
        server = Server((told.host, told.port), Door)
    except OSError as error:
        sys.exit(f"{NAME} cannot listen at port {told.port}: {error}")
    endpoint = f"http://{told.host}:{server.server_port}/mcp"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{NAME} listens at {endpoint}", flush=True)
    register(player, told.league, endpoint)
    threading.Event().wait()  # until Ctrl-C


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
