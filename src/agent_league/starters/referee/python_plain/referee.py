"""A referee for Agent League in plain Python: one file, no package but the standard library.

    python referee.py --league http://127.0.0.1:8000/mcp

The league sends START_MATCH; the referee answers at once, has the match played in a thread of its
own, and reports how it ended. The course of a match is in `play`: begin there.
"""

import argparse
import hashlib
import hmac
import http.client
import json
import random
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

NAME = "Ada"  # what others see; 1 to 50 characters
CAPACITY = 10  # matches at once
NAMES = {"E001": "TIMEOUT_ERROR", "E004": "INVALID_PARITY_CHOICE", "E022": "INVALID_FIELD_VALUE"}
PARITIES, SEATS = ("even", "odd"), ("PLAYER_A", "PLAYER_B")

Message = dict[str, Any]


class ForfeitError(Exception):
    """A player did not answer, or not as it must; without a code, there is no second chance."""

    def __init__(self, said: str, code: str = "") -> None:
        super().__init__(said)
        self.code = code


def play(referee: "Referee", order: Message) -> None:
    """Play a match of Even/Odd: invite both, ask both, draw, tell both, report."""
    seated = [Seated(referee, order, seat) for seat in range(2)]
    absent = ask_both(seated, "invited")
    calls = {} if absent else ask_both(seated, "called")
    forfeits = {**absent, **{who: x for who, x in calls.items() if isinstance(x, ForfeitError)}}
    choices = {who: x for who, x in calls.items() if not isinstance(x, ForfeitError)}
    result = judged([seat.player_id for seat in seated], choices, forfeits)
    for seat in seated:
        seat.tell("notify_match_result", seat.message("GAME_OVER", game_result=result))
    referee.report(order, result)
    referee.matches.discard(order["match_id"])


def ask_both(seated: Sequence["Seated"], question: str) -> Message:
    """Ask both at the same time, so that neither can wait to see what the other does."""
    with ThreadPoolExecutor(2) as pool:
        asked = {seat.player_id: pool.submit(seat.answered, question) for seat in seated}
    answers = {player_id: answer.result() for player_id, answer in asked.items()}
    return {player_id: answer for player_id, answer in answers.items() if answer is not None}


def judged(players: Sequence[str], choices: Message, forfeits: Mapping[str, Any]) -> Message:
    """Return the result: whoever called the parity of the number wins; equal calls draw."""
    if forfeits:
        winners = [player for player in players if player not in forfeits]
        why = ", ".join(f"{player} {error}" for player, error in forfeits.items())
        number, status = None, "TECHNICAL_LOSS"
    else:
        number = random.SystemRandom().randint(1, 10)
        parity = PARITIES[number % 2]
        winners = [player for player in players if choices[player] == parity]
        why = f"{number} is {parity}"
        status = "WIN" if len(winners) == 1 else "DRAW"
    return {
        "status": status,
        "winner_player_id": winners[0] if len(winners) == 1 else None,
        "drawn_number": number,
        "number_parity": None if number is None else PARITIES[number % 2],
        "choices": {player: choices.get(player) for player in players},
        "reason": why,
        "technical_losses": sorted(forfeits),
    }


class Seated:
    def __init__(self, referee: "Referee", order: Message, seat: int) -> None:
        self.referee, self.order, self.seat = referee, order, seat
        self.me, self.other = order["players"][seat], order["players"][1 - seat]
        self.player_id: str = self.me["player_id"]
        self.questions = {"invited": self.invited, "called": self.called}
        patience = order.get("patience") or {}
        self.patience = {"join": 5.0, "move": 30.0, "game_over": 5.0, **patience}

    def answered(self, question: str) -> Any:
        """Return what the player answers; three attempts in all, then it has forfeited."""
        retry = {"attempts": 3, "base_delay": 2.0, **(self.order.get("retry") or {})}
        for attempt in range(1, retry["attempts"] + 1):
            try:
                return self.questions[question]()
            except ForfeitError as error:
                problem = error
            if not problem.code:
                break
            self.complain(problem, attempt, retry["attempts"])
            if attempt < retry["attempts"]:
                time.sleep(retry["base_delay"] * 2 ** (attempt - 1))
        return problem

    def invited(self) -> None:
        if self.me.get("suspended"):
            raise ForfeitError("is suspended")
        invitation = self.message(
            "GAME_INVITATION",
            league_id=self.order["league_id"],
            round_id=self.order["round_id"],
            role_in_match=SEATS[self.seat],
            opponent_id=self.other["player_id"],
        )
        ack = self.ask("handle_game_invitation", "join", invitation)
        if ack.get("accept") is not True:
            raise ForfeitError("declined the invitation")

    def called(self) -> str:
        call = self.message(
            "CHOOSE_PARITY_CALL",
            player_id=self.player_id,
            deadline=written(datetime.now(UTC) + timedelta(seconds=self.patience["move"])),
            context={"opponent_id": self.other["player_id"], "round_id": self.order["round_id"]},
        )
        answer = self.ask("choose_parity", "move", call)
        if answer.get("parity_choice") not in PARITIES:
            raise ForfeitError("made no valid move", "E004")
        return str(answer["parity_choice"])

    def complain(self, error: ForfeitError, attempt: int, attempts: int) -> None:
        """Tell the player what was wrong, so that it can do better next time."""
        complaint = self.message(
            "GAME_ERROR",
            error_code=error.code,
            error_description=NAMES[error.code],
            affected_player=self.player_id,
            action_required="a valid answer",
            consequence="Technical loss if max retries exceeded",
            retry_info={"retry_count": attempt, "max_retries": attempts},
            detail=str(error),
        )
        self.tell("notify_game_error", complaint)

    def message(self, kind: str, **fields: Any) -> Message:
        return {
            **self.referee.envelope(kind, self.order["conversation_id"]),
            # The player's ticket for this match. Our own token is for the league alone.
            "auth_token": self.me["ticket"],
            "match_id": self.order["match_id"],
            "game_type": self.order["game_type"],
            **fields,
        }

    def ask(self, method: str, wait: str, message: Message) -> Message:
        """Return the answer, which must be about this match and come in time."""
        try:
            answer = post(self.me["endpoint"], method, message, self.patience[wait])
        except (OSError, http.client.HTTPException, ValueError):
            raise ForfeitError("failed to respond within timeout", "E001") from None
        result = answer.get("result")
        if not isinstance(result, dict) or result.get("match_id") != message["match_id"]:
            raise ForfeitError("gave no valid answer", "E022")
        return result

    def tell(self, method: str, message: Message) -> None:
        try:
            post(self.me["endpoint"], method, message, self.patience["game_over"])
        except (OSError, http.client.HTTPException, ValueError):
            print(f"{self.player_id} did not hear {message['message_type']}", file=sys.stderr)


class Referee:
    """Takes matches from the league."""

    def __init__(self, league: str, endpoint: str) -> None:
        self.league, self.endpoint = league, endpoint
        self.referee_id, self.token = "referee", ""
        self.matches: set[str] = set()  # those that are being played
        self.taken: set[tuple[str, str]] = set()  # every order that was ever taken
        self.lock = threading.Lock()  # every request has a thread of its own

    def envelope(self, kind: str, conversation_id: str) -> Message:
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": f"referee:{self.referee_id}",
            "timestamp": written(datetime.now(UTC)),
            "conversation_id": conversation_id,
        }

    def register(self) -> None:
        """Ask to be given matches, until somebody answers."""
        meta = {
            "display_name": NAME,
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": self.endpoint,
            "max_concurrent_matches": CAPACITY,
        }
        request = self.envelope("REFEREE_REGISTER_REQUEST", "conv-register")
        answer = insist(self.league, "register_referee", {**request, "referee_meta": meta})
        result = answer.get("result") or {}
        if result.get("status") != "ACCEPTED":
            sys.exit(f"The league did not let {NAME} in: {result.get('reason') or answer}")
        self.referee_id, self.token = result["referee_id"], result["auth_token"]
        print(f"{NAME} is {self.referee_id} in {result.get('league_id')}", flush=True)

    def start(self, order: Message) -> Message:
        """Take the match and begin to play it, or say why not; one that we have, we have."""
        with self.lock:
            this = (order["match_id"], order["ticket"])
            known = this in self.taken or order["match_id"] in self.matches
            reason = None if known else self.refusal(order)
            if not known and reason is None:
                self.matches.add(order["match_id"])
                self.taken.add(this)
                threading.Thread(target=play, args=(self, order), daemon=True).start()
        return {
            **self.envelope("START_MATCH_RESPONSE", order["conversation_id"]),
            "match_id": order["match_id"],
            "status": "REJECTED" if reason else "ACCEPTED",
            "reason": reason,
        }

    def refusal(self, order: Message) -> str | None:
        if order["game_type"] != "even_odd":
            return "Unsupported game type"
        return "Already full" if len(self.matches) >= CAPACITY else None

    def is_from_the_league(self, order: Message) -> bool:
        """Only the league and we know our token, so nobody else can have signed the order."""
        key = hashlib.sha256(self.token.encode()).hexdigest().encode()
        about = f"{order['match_id']}\x1f{order['ticket']}".encode()
        signed = "tkt_" + hmac.digest(key, about, "sha256").hex()
        return hmac.compare_digest(str(order.get("auth_token")).encode(), signed.encode())

    def report(self, order: Message, result: Message) -> None:
        """Report again and again, until the league says that it knows."""
        winner, drawn = result["winner_player_id"], result["status"] == "DRAW"
        message = {
            **self.envelope("MATCH_RESULT_REPORT", order["conversation_id"]),
            "auth_token": self.token,
            **{key: order[key] for key in ("league_id", "round_id", "match_id", "game_type")},
            "ticket": order["ticket"],
            "result": {
                "winner": winner,
                "score": {p: 1 if drawn else 3 * (p == winner) for p in result["choices"]},
                "details": {key: result[key] for key in ("drawn_number", "choices", "reason")},
                "status": result["status"],
                "technical_losses": result["technical_losses"],
            },
        }
        answer = insist(self.league, "report_match_result", message)
        if "error" in answer:
            print(f"{order['match_id']}: {answer['error'].get('message')}", file=sys.stderr)


# ------------------------------------------------------------------- JSON-RPC 2.0, then HTTP

NOTICES = {"ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_ERROR"}
ORDER = {  # what a START_MATCH cannot do without
    **dict.fromkeys(("protocol", "sender", "timestamp", "conversation_id"), str),
    **dict.fromkeys(("league_id", "match_id", "game_type", "ticket", "seed"), str),
    "round_id": int,
    "players": list,
}


def answered(referee: Referee, body: bytes) -> tuple[int, Any]:
    """Return the HTTP status for *body* and the JSON to answer; None for no JSON at all."""
    try:
        frame = json.loads(body, parse_constant=int)  # int("NaN") raises: NaN is not JSON
    except (ValueError, RecursionError):
        return 200, error_frame(None, -32700, "not JSON")
    if not isinstance(frame, dict) or isinstance(frame.get("id"), bool | dict | list):
        return 200, error_frame(None, -32600, "not a JSON-RPC 2.0 request")
    if frame.get("jsonrpc") != "2.0" or not isinstance(frame.get("method"), str):
        return 200, error_frame(frame.get("id"), -32600, "not a JSON-RPC 2.0 request")
    result = {**dispatched(referee, frame.get("params")), "id": frame.get("id")}
    return (200, result) if "id" in frame else (202, None)


def dispatched(referee: Referee, message: Any) -> Message:
    wrong = complaint(referee, message)
    if wrong is not None:
        code, name, number, detail = wrong
        data = {
            **referee.envelope("LEAGUE_ERROR", "conv-error"),
            "error_code": code,
            "error_description": name,
            "original_message_type": "START_MATCH" if number != -32601 else "UNKNOWN",
            "detail": detail,
        }
        return error_frame(None, number, f"{code} {name}: {detail}", data)
    order = message["message_type"] == "START_MATCH"
    return {"jsonrpc": "2.0", "result": referee.start(message) if order else {"status": "ok"}}


def complaint(referee: Referee, message: Any) -> tuple[str, str, int, str] | None:
    """Return what is wrong with *message*, as the league and as JSON-RPC number it."""
    kind = message.get("message_type") if isinstance(message, dict) else None
    if kind in NOTICES:
        return None
    if kind != "START_MATCH":
        return "E023", "UNKNOWN_MESSAGE_TYPE", -32601, f"a referee knows no {kind!r:.60}"
    for field, expected in ORDER.items():
        if message.get(field) is None:
            return "E003", "MISSING_REQUIRED_FIELD", -32602, f"{field}: is missing"
        if type(message[field]) is not expected:
            return "E022", "INVALID_FIELD_VALUE", -32602, f"{field}: expected {expected.__name__}"
    if not referee.is_from_the_league(message):
        return "E012", "AUTH_TOKEN_INVALID", -32012, "auth_token: not the league's"
    return None


def error_frame(id_: Any, code: int, message: str, data: Any = None) -> Message:
    error = {"code": code, "message": message, **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "error": error, "id": id_}


class Door(BaseHTTPRequestHandler):
    referee: Referee
    protocol_version = "HTTP/1.1"  # connections stay open: a league has much to say
    disable_nagle_algorithm = True  # answers are short, and somebody waits for each
    timeout = 60  # seconds after which a silent connection is closed
    longest = 4 * 1024 * 1024  # what a large league announces is longer than you think

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != "/mcp" or not length.isdecimal() or int(length) > self.longest:
            self.close_connection = True  # what we do not read is not the next request
            self.send(413 if self.path == "/mcp" else 404, {"error": "not like this"})
        else:
            self.send(*answered(self.referee, self.rfile.read(int(length))))

    def send(self, status: int, answer: Any) -> None:
        body = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def insist(url: str, method: str, message: Message) -> Message:
    """Return the league's answer, however long it takes the league to be there."""
    while True:
        try:
            return post(url, method, message, 10)
        except (OSError, http.client.HTTPException, ValueError):
            print(f"{url} does not answer {method}; I keep trying.", file=sys.stderr, flush=True)
            time.sleep(2)


def post(url: str, method: str, message: Message, patience: float) -> Message:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=patience)
    frame = {"jsonrpc": "2.0", "method": method, "params": message, "id": 1}
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", parts.path, json.dumps(frame), headers)
        answer = json.loads(connection.getresponse().read(1 << 20))
        return answer if isinstance(answer, dict) else {}
    finally:
        connection.close()


def main() -> None:
    asked = argparse.ArgumentParser(description=f"{NAME}, a referee for Agent League.")
    asked.add_argument("--league", default="http://127.0.0.1:8000/mcp", help="where to register")
    asked.add_argument("--port", type=int, default=8001, help="where to listen; 0 for any")
    asked.add_argument("--host", default="127.0.0.1", help="the address that others reach")
    told = asked.parse_args()
    try:
        server = ThreadingHTTPServer((told.host, told.port), Door)
    except OSError as error:
        sys.exit(f"{NAME} cannot listen at port {told.port}: {error}")
    Door.referee = Referee(told.league, f"http://{told.host}:{server.server_port}/mcp")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{NAME} listens at {Door.referee.endpoint}", flush=True)
    Door.referee.register()
    threading.Event().wait()  # until Ctrl-C


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
