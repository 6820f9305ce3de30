"""A referee for Agent League in plain Python: one file, no package but the standard library.

    python referee.py --league http://127.0.0.1:8000/mcp

The league sends START_MATCH. Start with `run_match`, which has the steps of a match.
"""

import argparse
import hashlib
import hmac
import json
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

NAME = "Ada"  # the name that others see; 1 to 50 characters
MAX_MATCHES = 10  # how many matches run at the same time
META = {"version": "1.0.0", "game_types": ["even_odd"], "max_concurrent_matches": MAX_MATCHES}
PARITIES, ROLES = ("even", "odd"), ("PLAYER_A", "PLAYER_B")
REPORTED_FIELDS = ("league_id", "round_id", "match_id", "game_type", "ticket")
REPORTED_DETAILS = ("drawn_number", "choices", "reason")
Message = dict[str, Any]


def run_match(referee: "Referee", order: Message) -> None:
    """Run a match of Even/Odd: invite both, ask both, draw a number, send and report the result."""
    players = [SeatedPlayer(referee, order, seat) for seat in range(2)]
    with ThreadPoolExecutor(2) as pool:  # so that both players are asked at the same time
        list(pool.map(lambda player: player.try_step(player.invite), players))
        if not any(player.forfeit for player in players):
            list(pool.map(lambda player: player.try_step(player.request_choice), players))
    result = decide(order, players)
    for player in players:
        player.send("GAME_OVER", "notify_match_result", game_result=result)
    referee.report(order, result)
    referee.running.discard(order["match_id"])


def decide(order: Message, players: list["SeatedPlayer"]) -> Message:
    """Return the result: the player that chose the number's parity wins; equal choices draw."""
    forfeits = {player.player_id: player.forfeit for player in players if player.forfeit}
    if forfeits:
        number, parity, status = None, None, "TECHNICAL_LOSS"
        winners = [player.player_id for player in players if not player.forfeit]
        reason = ", ".join(f"{player_id} {why}" for player_id, why in forfeits.items())
    else:
        number = draw(order["seed"], **{"low": 1, "high": 10, **(order.get("options") or {})})
        parity = PARITIES[number % 2]
        winners = [player.player_id for player in players if player.choice == parity]
        status, reason = "WIN" if len(winners) == 1 else "DRAW", f"{number} is {parity}"
    return {
        "status": status,
        "winner_player_id": winners[0] if len(winners) == 1 else None,
        "drawn_number": number,
        "number_parity": parity,
        "choices": {player.player_id: player.choice for player in players},
        "reason": reason,
        "technical_losses": sorted(forfeits),
        "details": {"draw_secret": order["seed"]},
    }


def draw(secret: str, low: int, high: int, count: int = 0) -> int:
    """Return the number of this match. Everybody can compute it again, so nobody can choose it."""
    block, size = hashlib.sha256(f"{secret}|{count}".encode()).digest(), high - low + 1
    number = int.from_bytes(block, "big") >> (256 - size.bit_length())
    return low + number if number < size else draw(secret, low, high, count + 1)


class ForfeitError(Exception):
    """No valid answer: the reason and, if the player may try again, the error code and name."""


class SeatedPlayer:
    """One of the two players of a match, as its referee sees it."""

    def __init__(self, referee: "Referee", order: Message, seat: int) -> None:
        self.referee, self.order, self.role = referee, order, ROLES[seat]
        self.player, self.opponent = order["players"][seat], order["players"][1 - seat]
        self.player_id: str = self.player["player_id"]
        self.choice: str | None = None
        self.forfeit = ""  # why this player loses the match, if it does
        self.timeouts = {"join": 5, "move": 30, "game_over": 5, **(order.get("patience") or {})}

    def try_step(self, step: Callable[[], None]) -> None:
        """Run *step* until it succeeds; after the last attempt the player forfeits."""
        retry = {"attempts": 3, "base_delay": 2.0, **(self.order.get("retry") or {})}
        for attempt in range(1, retry["attempts"] + 1):
            self.forfeit, error = "", []
            try:
                step()
            except ForfeitError as forfeit:
                self.forfeit, *error = forfeit.args
            if not error:
                break
            fields = {"error_code": error[0], "error_description": error[1], "detail": self.forfeit}
            fields |= {"affected_player": self.player_id, "action_required": "a valid answer"}
            fields["consequence"] = "Technical loss if max retries exceeded"
            count = {"retry_count": attempt, "max_retries": retry["attempts"]}
            self.send("GAME_ERROR", "notify_game_error", **fields, retry_info=count)
            if attempt < retry["attempts"]:
                time.sleep(retry["base_delay"] * 2 ** (attempt - 1))

    def invite(self) -> None:
        if self.player.get("suspended"):
            raise ForfeitError("is suspended")
        fields = {"role_in_match": self.role, "opponent_id": self.opponent["player_id"]}
        fields |= {key: self.order[key] for key in ("league_id", "round_id")}
        fields["commitment"] = hashlib.sha256(self.order["seed"].encode()).hexdigest()
        reply = self.ask("GAME_INVITATION", "handle_game_invitation", "join", **fields)
        if reply.get("accept") is not True:
            raise ForfeitError("declined the invitation")

    def request_choice(self) -> None:
        context = {"opponent_id": self.opponent["player_id"], "round_id": self.order["round_id"]}
        deadline = format_time(seconds_from_now=self.timeouts["move"])
        fields = {"player_id": self.player_id, "deadline": deadline, "context": context}
        reply = self.ask("CHOOSE_PARITY_CALL", "choose_parity", "move", **fields)
        if reply.get("parity_choice") not in PARITIES:
            raise ForfeitError("made no valid move", "E004", "INVALID_PARITY_CHOICE")
        self.choice = reply["parity_choice"]

    def ask(self, kind: str, method: str, timeout: str, **fields: Any) -> Message:
        """Return the player's reply, which must arrive in time and belong to this match."""
        response = self.send(kind, method, timeout, **fields)
        if response is None:
            raise ForfeitError("failed to respond within timeout", "E001", "TIMEOUT_ERROR")
        result = response.get("result")
        if not isinstance(result, dict) or result.get("match_id") != self.order["match_id"]:
            raise ForfeitError("gave no valid answer", "E022", "INVALID_FIELD_VALUE")
        return result

    def send(self, kind: str, method: str, timeout: str = "game_over", **fields: Any) -> Any:
        """Send the player a message; return the JSON-RPC response, or None if none arrives."""
        envelope = self.referee.envelope(kind, self.order["conversation_id"])
        # The player gets its ticket for this match. Send your own token to the league only.
        match = {key: self.order[key] for key in ("match_id", "game_type")}
        message = {**envelope, "auth_token": self.player["ticket"], **match, **fields}
        return post(self.player["endpoint"], method, message, self.timeouts[timeout])


class Referee:
    """Runs the matches that the league sends."""

    def __init__(self, league: str, endpoint: str) -> None:
        self.league, self.endpoint = league, endpoint
        self.referee_id, self.token, self.key = "referee", "", ""
        self.running: set[str] = set()  # the ids of the matches that are running now
        self.accepted: set[tuple[str, str]] = set()  # the match id and ticket of every order
        self.lock = threading.Lock()  # every request has its own thread

    def envelope(self, kind: str, conversation_id: str) -> Message:
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": f"referee:{self.referee_id}",
            "timestamp": format_time(),
            "conversation_id": conversation_id,
        }

    def register(self) -> None:
        """Register with the league. The same endpoint gets the same referee id again."""
        meta = {**META, "display_name": NAME, "contact_endpoint": self.endpoint}
        request = self.envelope("REFEREE_REGISTER_REQUEST", "conv-register")
        response = call_league(self.league, "register_referee", {**request, "referee_meta": meta})
        result = response.get("result") or {}
        if result.get("status") != "ACCEPTED":
            sys.exit(f"The league did not accept {NAME}: {result.get('reason') or response}")
        self.referee_id, self.token = result["referee_id"], result["auth_token"]
        self.key = result.get("signing_key") or hashlib.sha256(self.token.encode()).hexdigest()
        print(f"{NAME} is {self.referee_id} in {result.get('league_id')}", flush=True)

    def start(self, order: Message) -> Message:
        """Start the match, or reject it. An order that arrives again is only acknowledged."""
        match_id, ticket, reason = order["match_id"], order["ticket"], None
        with self.lock:
            if match_id not in self.running and (match_id, ticket) not in self.accepted:
                if order["game_type"] != "even_odd":
                    reason = "Unsupported game type"
                elif len(self.running) >= MAX_MATCHES:
                    reason = "Already full"
                else:
                    self.running.add(match_id)
                    self.accepted.add((match_id, ticket))
                    threading.Thread(target=run_match, args=(self, order), daemon=True).start()
        status = "REJECTED" if reason else "ACCEPTED"
        envelope = self.envelope("START_MATCH_RESPONSE", order["conversation_id"])
        return {**envelope, "match_id": match_id, "status": status, "reason": reason}

    def is_signed_by_league(self, order: Message) -> bool:
        """Check the signature. Only the league and we know its key."""
        content = f"{order['match_id']}\x1f{order['ticket']}".encode()
        signature = "tkt_" + hmac.digest(self.key.encode(), content, "sha256").hex()
        return hmac.compare_digest(str(order.get("auth_token")).encode(), signature.encode())

    def report(self, order: Message, result: Message) -> None:
        """Report the result to the league, and print its answer if it is an error."""
        winner, drawn = result["winner_player_id"], result["status"] == "DRAW"
        reported = {
            "winner": winner,
            "score": {p: 1 if drawn else 3 * (p == winner) for p in result["choices"]},
            "details": result["details"] | {key: result[key] for key in REPORTED_DETAILS},
            **{key: result[key] for key in ("status", "technical_losses")},
        }
        message = self.envelope("MATCH_RESULT_REPORT", order["conversation_id"])
        message |= {key: order[key] for key in REPORTED_FIELDS}
        message |= {"auth_token": self.token, "result": reported}
        response = call_league(self.league, "report_match_result", message)
        if "error" in response:
            print(f"{order['match_id']}: {response['error'].get('message')}", file=sys.stderr)


# -------------------------------------------------------------------------- JSON-RPC and HTTP

NOTICES = ("ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_ERROR")
# The required fields of START_MATCH, with their types.
STRINGS = "protocol sender timestamp conversation_id league_id match_id game_type ticket seed"
ORDER_FIELDS = {**dict.fromkeys(STRINGS.split(), str), "round_id": int, "players": list}


def answer_request(referee: Referee, body: bytes) -> tuple[int, Any]:
    """Return the HTTP status and the JSON-RPC response to *body*."""
    try:
        request = json.loads(body, parse_constant=int)  # int("NaN") raises: NaN is not JSON
    except (ValueError, RecursionError):
        return 200, rpc_error(None, -32700, "not JSON")
    if not isinstance(request, dict) or isinstance(request.get("id"), bool | dict | list):
        return 200, rpc_error(None, -32600, "not a JSON-RPC 2.0 request")
    if request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
        return 200, rpc_error(request.get("id"), -32600, "not a JSON-RPC 2.0 request")
    response = answer_message(referee, request.get("id"), request.get("params"))
    return (200, response) if "id" in request else (202, None)  # without an id: no response


def answer_message(referee: Referee, id_: Any, message: Any) -> Message:
    if error := find_error(referee, message):
        code, name, number, detail = error
        data = referee.envelope("LEAGUE_ERROR", "conv-error")
        data |= {"error_code": code, "error_description": name, "detail": detail}
        data["original_message_type"] = "UNKNOWN" if code == "E023" else "START_MATCH"
        return rpc_error(id_, number, f"{code} {name}: {detail}", data)
    is_order = message["message_type"] == "START_MATCH"
    result = referee.start(message) if is_order else {"status": "ok"}
    return {"jsonrpc": "2.0", "result": result, "id": id_}


def find_error(referee: Referee, message: Any) -> tuple[str, str, int, str] | None:
    """Return the error of an invalid *message*: code, name, JSON-RPC code and description."""
    kind = message.get("message_type") if isinstance(message, dict) else None
    if kind in NOTICES:
        return None
    if kind != "START_MATCH":
        return "E023", "UNKNOWN_MESSAGE_TYPE", -32601, f"a referee does not know {kind!r:.60}"
    for field, expected in ORDER_FIELDS.items():
        if message.get(field) is None:
            return "E003", "MISSING_REQUIRED_FIELD", -32602, f"{field}: is missing"
        if type(message[field]) is not expected:
            return "E022", "INVALID_FIELD_VALUE", -32602, f"{field}: expected {expected.__name__}"
    if not referee.is_signed_by_league(message):
        return "E012", "AUTH_TOKEN_INVALID", -32012, "auth_token: not signed by the league"
    return None


def rpc_error(id_: Any, code: int, message: str, data: Any = None) -> Message:
    error = {"code": code, "message": message, **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "error": error, "id": id_}


class RequestHandler(BaseHTTPRequestHandler):
    referee: Referee
    protocol_version = "HTTP/1.1"  # keep connections open for the next request
    disable_nagle_algorithm = True  # send short responses at once
    timeout = 60  # seconds until an idle connection is closed
    max_body_bytes = 4 * 1024 * 1024  # the announcements of a large league are long

    def handle(self) -> None:
        with suppress(OSError):  # the other side may close its connection at any time
            super().handle()

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != "/mcp" or not length.isdecimal() or int(length) > self.max_body_bytes:
            self.close_connection = True  # the unread body would be taken for the next request
            self.send(413 if self.path == "/mcp" else 404, {"error": "wrong path or length"})
        else:
            self.send(*answer_request(self.referee, self.rfile.read(int(length))))

    def send(self, status: int, response: Any) -> None:
        body = b"" if response is None else json.dumps(response).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def format_time(seconds_from_now: float = 0) -> str:
    return f"{datetime.now(UTC) + timedelta(seconds=seconds_from_now):%Y-%m-%dT%H:%M:%SZ}"


def call_league(url: str, method: str, message: Message) -> Message:
    """Return the league's response. Try again until the league answers."""
    while (response := post(url, method, message, 10)) is None:
        time.sleep(2)
    return response


def post(url: str, method: str, message: Message, timeout: float) -> Message | None:
    """Return the JSON-RPC response, or None if none arrives in time."""
    request = json.dumps({"jsonrpc": "2.0", "method": method, "params": message, "id": 1})
    try:
        parts = urlsplit(url)
        with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)) as peer:
            peer.request("POST", parts.path, request, {"Content-Type": "application/json"})
            response = json.loads(peer.getresponse().read(1 << 20))
    except (OSError, HTTPException, ValueError):
        print(f"No answer to {method} from {url}", file=sys.stderr, flush=True)
        return None
    return response if isinstance(response, dict) else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=f"{NAME}, a referee for Agent League.")
    parser.add_argument("--league", default="http://127.0.0.1:8000/mcp", help="where to register")
    parser.add_argument("--port", type=int, default=8001, help="where to listen; 0 for any")
    parser.add_argument("--host", default="127.0.0.1", help="the address that others reach")
    arguments = parser.parse_args()
    try:
        server = ThreadingHTTPServer((arguments.host, arguments.port), RequestHandler)
    except OSError as error:
        sys.exit(f"{NAME} cannot listen at port {arguments.port} ({error.strerror}): try --port 0")
    endpoint = f"http://{arguments.host}:{server.server_port}/mcp"
    RequestHandler.referee = referee = Referee(arguments.league, endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{NAME} listens at {endpoint}", flush=True)
    referee.register()
    threading.Event().wait()  # until Ctrl-C


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
