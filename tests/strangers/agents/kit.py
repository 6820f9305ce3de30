"""What every third-party agent needs and would copy from the web: a small server, and a way to post.

Nothing here, nor in the agents beside it, knows the package that is tested.
"""

import argparse
import json
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any
Answer = Callable[[Json], tuple[int, Json]]
"""From the body of a request to the status and the body of the answer."""


def now(form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    return time.strftime(form, time.gmtime())


def options() -> argparse.Namespace:
    """Return where to listen, and where the manager is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--manager", default="http://127.0.0.1:8000/mcp")
    parser.add_argument("--start", default="MATCH_ASSIGNMENT")
    parser.add_argument("--report", default="flat")
    parser.add_argument("--players", type=int, default=2)
    return parser.parse_args()


def post(url: str, body: Json, patience: float = 10.0) -> Json:
    """Post *body* and return what came back, None if that was nothing."""
    head = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), head)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=patience) as answer:  # noqa: S310
            reply = answer.read()
    except urllib.error.HTTPError as error:
        reply = error.read()
    try:
        return json.loads(reply) if reply else None
    except ValueError:
        return {"unreadable": reply.decode(errors="replace")}


def call(method: str, params: Json, number: Json = 1) -> Json:
    return {"jsonrpc": "2.0", "method": method, "params": params, "id": number}


def server(port: int, answer: Answer) -> ThreadingHTTPServer:
    """Return a server that answers every POST; it listens, and does not serve yet."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            try:
                status, reply = answer(json.loads(self.rfile.read(length)))
            except Exception as error:  # noqa: BLE001
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                status, reply = 500, {"detail": str(error)}
            self._send(status, reply)

        def do_GET(self) -> None:
            self._send(200, {"status": "up"})

        def _send(self, status: int, reply: Json) -> None:
            body = b"" if reply is None else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer.request_queue_size = 64
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def endpoint(listening: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{listening.server_address[1]}/mcp"


def serve(listening: ThreadingHTTPServer) -> threading.Thread:
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    return thread


def meta(url: str, name: str, **more: Json) -> Json:
    return {
        "display_name": name,
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": url,
        **more,
    }


def envelope(kind: str, sender: str, **fields: Json) -> Json:
    return {
        "protocol": "league.v2",
        "message_type": kind,
        "sender": sender,
        "timestamp": now(),
        "conversation_id": f"conv-{uuid.uuid4().hex[:8]}",
        **fields,
    }


def joined(player_id: str, asked: Json, **fields: Json) -> Json:
    ack = envelope("GAME_JOIN_ACK", f"player:{player_id}", match_id=asked["match_id"])
    return {**ack, "player_id": player_id, "arrival_timestamp": now(), **fields}


def chosen(player_id: str, asked: Json, **fields: Json) -> Json:
    reply = envelope("CHOOSE_PARITY_RESPONSE", f"player:{player_id}", match_id=asked["match_id"])
    return {**reply, "player_id": player_id, **fields}


def result(frame: Json, reply: Json, **more: Json) -> Json:
    return {"jsonrpc": "2.0", "result": reply, "id": frame.get("id"), **more}


def refused(frame: Json, code: int, message: str) -> Json:
    error = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "error": error, "id": frame.get("id")}


def unknown(frame: Json) -> tuple[int, Json]:
    return 200, refused(frame, -32601, "Method not found")


class Over(threading.Event):
    """Set when the league says that it is completed."""

    def wait_and_leave(self) -> None:
        self.wait()
        time.sleep(0.2)  # noqa: TID251 - the answer to the last notice is still on its way
