"""A player for Agent League in plain Python: one file, no package but the standard library.

    python player.py --league http://127.0.0.1:8000/mcp

It listens at POST /mcp, registers with the league, and answers the messages that it gets.
Start with `choose`, which selects the moves. The rest is the protocol: it can stay as it is.
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
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

NAME = "Ada"  # the name that others see; 1 to 50 characters
GAMES = ["even_odd", "tic_tac_toe"]
PLAYER_META = {"display_name": NAME, "version": "1.0.0", "game_types": GAMES}
JSON_TYPE = {"Content-Type": "application/json"}
Message = dict[str, Any]


def choose(legal_moves: Sequence[Any], view: Any, opponent_moves: Sequence[Any]) -> Any:
    """Return one of the legal moves. Write your own strategy here.

    In Even/Odd the legal moves are ["even", "odd"]. *view* is what the game shows you, and
    *opponent_moves* is what this opponent played against you before, oldest first. You have 30 s.
    """
    return random.choice(legal_moves)


# ------------------------------------------------------------- the messages that a player gets

# The required fields of each message, besides those that every message has.
REQUIRED_FIELDS = {
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
ENVELOPE_FIELDS = "protocol sender timestamp conversation_id"
# The JSON-RPC methods of these messages. The player goes by message_type, not by the method.
METHODS = """handle_game_invitation choose_parity choose_move notify_match_result
    notify_game_error notify_league_error notify_round notify_round_completed update_standings
    notify_league_completed""".split()
# The types of the fields that are not strings.
FIELD_TYPES: dict[str, type] = {
    **dict.fromkeys(("round_id", "matches_completed", "total_rounds", "total_matches"), int),
    **dict.fromkeys(("matches", "standings", "final_standings", "legal_moves"), list),
    **dict.fromkeys(("game_result", "summary", "champion"), dict),
}
SENDER = r"league_manager(:.+)?|(referee|player):.+"
PATTERNS = {"sender": SENDER, "role_in_match": "PLAYER_[AB]"}
# The league's error codes, each with its name and its JSON-RPC error code.
ERRORS = {
    "E003": ("MISSING_REQUIRED_FIELD", -32602),
    "E018": ("PROTOCOL_VERSION_MISMATCH", -32018),
    "E021": ("INVALID_TIMESTAMP", -32602),
    "E022": ("INVALID_FIELD_VALUE", -32602),
    "E023": ("UNKNOWN_MESSAGE_TYPE", -32601),
}


class InvalidMessageError(Exception):
    """A message breaks the protocol. The sender gets the code and the text."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def require(valid: object, code: str, detail: str) -> None:
    if not valid:
        raise InvalidMessageError(code, detail)


def check_message(message: Any, method: str) -> None:
    """Raise `InvalidMessageError` unless *message* is valid."""
    kind = message.get("message_type") if isinstance(message, dict) else None
    require(kind is not None or method not in METHODS, "E003", "message_type: is missing")
    known = isinstance(kind, str) and kind.upper() in REQUIRED_FIELDS
    require(known, "E023", f"a player does not know {kind or method!r:.60}")
    require(kind in REQUIRED_FIELDS, "E022", "message_type: expected capital letters")
    for field in f"{ENVELOPE_FIELDS} {REQUIRED_FIELDS[str(kind)]}".split():
        check_field(field, message.get(field))


def check_field(field: str, value: Any) -> None:
    """Raise `InvalidMessageError` unless *value* is valid for *field*."""
    require(value is not None, "E003", f"{field}: is missing")
    if field == "protocol":
        require(value == "league.v2", "E018", "protocol: expected league.v2")
    if field in ("timestamp", "deadline"):
        require(is_utc_time(value), "E021", f"{field}: expected UTC, as 2025-01-15T10:30:00Z")
    expected = FIELD_TYPES.get(field, str)
    right_type = type(value) is expected and value != ""
    require(right_type, "E022", f"{field}: expected {expected.__name__}")
    if expected is int:
        require((field == "round_id") <= value < 2**31, "E022", f"{field}: out of range")
    if field in PATTERNS:
        require(re.fullmatch(PATTERNS[field], value), "E022", f"{field}: not an allowed value")


def is_utc_time(text: Any) -> bool:
    try:
        return "T" in text and datetime.fromisoformat(text).utcoffset() == timedelta(0)
    except (TypeError, ValueError):
        return False


# --------------------------------------------------------------------------------- the player


class Player:
    """Answers messages. Every request has its own thread."""

    def __init__(self) -> None:
        self.player_id = "player"  # until the league assigns one
        self.moves: dict[tuple[str, str], dict[str, Any]] = {}  # by match, then by view
        self.opponent_moves: dict[str, list[Any]] = defaultdict(list)
        self.handlers: dict[str, Callable[[Message], Message]] = {
            "GAME_INVITATION": self.join,
            "CHOOSE_PARITY_CALL": self.choose_parity,
            "GAME_MOVE_CALL": self.choose_move,
            "GAME_OVER": self.remember_opponent,
            "LEAGUE_COMPLETED": self.print_champion,
        }

    def join(self, invitation: Message) -> Message:
        accept = invitation["game_type"] in GAMES
        return self.reply("GAME_JOIN_ACK", invitation, accept=accept, arrival_timestamp=now())

    def choose_parity(self, call: Message) -> Message:
        choice = self.choose_once(call, ["even", "odd"], {"choices": ["even", "odd"]})
        return self.reply("CHOOSE_PARITY_RESPONSE", call, parity_choice=choice)

    def choose_move(self, call: Message) -> Message:
        move = self.choose_once(call, call["legal_moves"], call.get("view"))
        return self.reply("GAME_MOVE_RESPONSE", call, move=move)

    def choose_once(self, call: Message, legal_moves: Sequence[Any], view: Any) -> Any:
        """Return our move. A referee that repeats its call gets the same move again."""
        moves = self.moves.setdefault((call["match_id"], call["conversation_id"]), {})
        turn = json.dumps(view)
        if turn not in moves:
            opponent = (call.get("context") or {}).get("opponent_id", "")
            move = choose(legal_moves, view, tuple(self.opponent_moves[opponent]))
            moves.setdefault(turn, move)  # another thread may have chosen in the meantime
        return moves[turn]

    def remember_opponent(self, game_over: Message) -> Message:
        """Store what the opponent played, once for each match."""
        moves = self.moves.pop((game_over["match_id"], game_over["conversation_id"]), None)
        choices = game_over["game_result"].get("choices")
        if moves and isinstance(choices, dict):
            for player_id in choices.keys() - {self.player_id}:
                self.opponent_moves[player_id].append(choices[player_id])
        return {"status": "ok", "match_id": game_over["match_id"]}

    def print_champion(self, notice: Message) -> Message:
        print(f"The league is over; the champion is {notice['champion'].get('display_name')}.")
        return {"status": "ok"}

    def reply(self, kind: str, request: Message, **fields: Any) -> Message:
        """Return a reply to *request*, in the same conversation."""
        return {
            **self.envelope(kind, request["conversation_id"]),
            # The referee gets its own token back. Send your own token to the league only.
            **({"auth_token": request["auth_token"]} if request.get("auth_token") else {}),
            "match_id": request["match_id"],
            "player_id": request.get("player_id", self.player_id),
            **fields,
        }

    def describe_error(self, error: InvalidMessageError, message: Any) -> Message:
        """Return the LEAGUE_ERROR that the sender of *message* gets."""
        fields = message if isinstance(message, dict) else {}
        return {
            **self.envelope("LEAGUE_ERROR", str(fields.get("conversation_id") or "conv-error")),
            "error_code": error.code,
            "error_name": ERRORS[error.code][0],
            "error_description": ERRORS[error.code][0],
            "original_message_type": str(fields.get("message_type") or "UNKNOWN"),
            "detail": str(error),
        }

    def envelope(self, kind: str, conversation_id: str) -> Message:
        """Return the fields that every message has."""
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": f"player:{self.player_id}",
            "timestamp": now(),
            "conversation_id": conversation_id,
        }


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# -------------------------------------------------------------------------- JSON-RPC and HTTP


def answer_request(player: Player, body: bytes) -> tuple[int, Any]:
    """Return the HTTP status and the JSON-RPC response to *body*."""
    try:
        request = json.loads(body, parse_constant=int)  # int("NaN") raises: NaN is not JSON
    except (ValueError, RecursionError):
        return 200, rpc_error(None, -32700, "not JSON")
    if not isinstance(request, dict) or isinstance(request.get("id"), bool | dict | list):
        return 200, rpc_error(None, -32600, "not a JSON-RPC 2.0 request")
    id_, version, method = request.get("id"), request.get("jsonrpc"), request.get("method")
    params = request.get("params", {})
    if not isinstance(method, str) or not isinstance(params, dict | list) or version != "2.0":
        return 200, rpc_error(id_, -32600, "not a JSON-RPC 2.0 request")
    response = call_player(player, id_, method, params)
    return (200, response) if "id" in request else (202, None)  # without an id: no response


def call_player(player: Player, id_: Any, method: str, params: Any) -> Message:
    try:
        check_message(params, method)
        handler = player.handlers.get(params["message_type"])
        reply = handler(params) if handler else {"status": "ok"}
    except InvalidMessageError as error:
        name, number = ERRORS[error.code]
        data = player.describe_error(error, params)
        return rpc_error(id_, number, f"{error.code} {name}: {error}", data)
    except Exception as error:  # a bug in one answer must not stop the player
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return rpc_error(id_, -32603, "internal error")
    return {"jsonrpc": "2.0", "result": reply, "id": id_}


def rpc_error(id_: Any, code: int, message: str, data: Any = None) -> Message:
    error = {"code": code, "message": message, **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "error": error, "id": id_}


class RequestHandler(BaseHTTPRequestHandler):
    """The endpoint: POST /mcp."""

    player: Player
    protocol_version = "HTTP/1.1"  # keep connections open for the next request
    disable_nagle_algorithm = True  # send short responses at once
    timeout = 60  # seconds until an idle connection is closed
    max_body_bytes = 4 * 1024 * 1024  # the standings of a large league are long

    def handle(self) -> None:
        with suppress(OSError):  # the other side may close its connection at any time
            super().handle()

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != "/mcp":
            self.send(404, {"error": f"there is nothing at {self.path}"}, close=True)
        elif not length.isdecimal():
            self.send(411, {"error": "the Content-Length header is missing"}, close=True)
        elif int(length) > self.max_body_bytes:
            self.send(413, {"error": "the request is too long"}, close=True)
        else:
            self.send(*answer_request(self.player, self.rfile.read(int(length))))

    def do_GET(self) -> None:
        about = {"agent": "player", "name": NAME, "endpoint": "/mcp"}
        pages = {"/": (200, about), "/mcp": (405, {"error": "only POST is allowed here"})}
        self.send(*pages.get(self.path, (404, {"error": f"there is nothing at {self.path}"})))

    def send(self, status: int, response: Any, *, close: bool = False) -> None:
        body = b"" if response is None else json.dumps(response).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if close:  # the body was not read, and would be taken for the next request
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing: one line for each request is too much."""


def register(player: Player, league: str, endpoint: str) -> None:
    """Register with the league. The same endpoint gets the same player id again."""
    request = player.envelope("LEAGUE_REGISTER_REQUEST", "conv-register")
    request["player_meta"] = {**PLAYER_META, "contact_endpoint": endpoint}
    response = call_league(league, "register_player", request)
    result = response.get("result") or {}
    if result.get("status") != "ACCEPTED":
        sys.exit(f"The league did not accept {NAME}: {result.get('reason') or response}")
    player.player_id = result["player_id"]
    print(f"{NAME} is {player.player_id} in {result.get('league_id')}", flush=True)


def call_league(url: str, method: str, message: Message) -> Message:
    """Return the league's response. Try again until the league answers."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    request = {"jsonrpc": "2.0", "method": method, "params": message, "id": 1}
    print(f"Registering at {url}; trying every 2 seconds until the league answers.", flush=True)
    while True:
        try:
            connection.request("POST", parts.path, json.dumps(request), JSON_TYPE)
            return dict(json.loads(connection.getresponse().read()))
        except (OSError, http.client.HTTPException, TypeError, ValueError):
            connection.close()
            time.sleep(2)


def main() -> None:
    parser = argparse.ArgumentParser(description=f"{NAME}, a player for Agent League.")
    parser.add_argument("--league", default="http://127.0.0.1:8000/mcp", help="where to register")
    parser.add_argument("--port", type=int, default=8101, help="where to listen; 0 for any")
    parser.add_argument("--host", default="127.0.0.1", help="the address that others reach")
    arguments = parser.parse_args()
    RequestHandler.player = player = Player()
    ThreadingHTTPServer.request_queue_size = 128  # many connections arrive when a round starts
    try:
        server = ThreadingHTTPServer((arguments.host, arguments.port), RequestHandler)
    except OSError as error:
        sys.exit(f"{NAME} cannot listen at port {arguments.port} ({error.strerror}): try --port 0")
    endpoint = f"http://{arguments.host}:{server.server_port}/mcp"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{NAME} listens at {endpoint}", flush=True)
    register(player, arguments.league, endpoint)
    threading.Event().wait()  # until Ctrl-C


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
