"""What every imitation needs: a small HTTP server and client, and the arithmetic of Even/Odd.

Nothing here, nor in the families beside it, knows the package that is tested. Every wait is one of
the running loop, so that a test in virtual time spends none.
"""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

Json = Any
Book = dict[str, str]
"""The endpoint of each agent by its id, as the configuration file of an implementation has it."""
POINTS = {"WIN": 3, "DRAW": 1, "LOSS": 0}
LEAGUE = "league_2025_even_odd"


class Request(NamedTuple):
    verb: str
    path: str
    query: dict[str, str]
    body: bytes

    @property
    def document(self) -> Json:
        return json.loads(self.body)


class Reply(NamedTuple):
    status: int
    document: Json = None
    """Sent as JSON; text is sent as it is, and None as nothing."""


Route = Callable[[Request], Awaitable[Reply]]


class Ended(NamedTuple):
    """How a referee saw the end of one match."""

    match_id: str
    players: tuple[str, str]
    choices: Mapping[str, str]
    outcome: str
    """completed, technical, cancelled or silent."""


class CallFailedError(Exception):
    """A call came back with an error, or not at all."""


class Agent:
    """One agent of a family: it listens where its book says, and does what `live` says."""

    role = ""
    title = "FastAPI"

    def __init__(self, own_id: str, book: Book) -> None:
        self.own_id, self.book = own_id, book
        self.endpoint = book[own_id]
        self.rng = random.Random(own_id)
        self.received: list[Json] = []
        """Every document that was posted to it."""
        self.answers: list[Json] = []
        """What came back for its own calls."""
        self.faults: list[BaseException] = []
        """What ended a task of it; nobody else is told."""
        self.problems: list[str] = []
        """What it would tell its operator about matches that were not played."""
        self.routes: dict[tuple[str, str], Route] = {}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Listen, and begin to live; some register before they listen."""
        await self.listen()
        self.spawn(self.live())

    async def live(self) -> None:
        """Do what this agent does without being asked."""

    async def listen(self) -> None:
        where = urlsplit(self.endpoint)
        self._server = await asyncio.start_server(self._accept, where.hostname, where.port)

    async def close(self) -> None:
        """Stop at once, as a process does that is killed."""
        self.stop_listening()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()

    def stop_listening(self) -> None:
        if self._server is not None:
            self._server.close()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.faults.append(error)

    def choose(self) -> str:
        """Return a new choice, whatever was chosen before."""
        return self.rng.choice(("even", "odd"))

    async def post(self, url: str, document: Json, within: float = 30.0) -> tuple[int, Json]:
        """Return the status and the body that came back, or raise OSError or TimeoutError."""
        status, answer = await post(url, document, within)
        self.answers.append(answer)
        return status, answer

    async def _answer(self, request: Request) -> Reply:
        route = self.routes.get((request.verb, request.path))
        if route is not None:
            try:
                return await route(request)
            except Exception as error:  # noqa: BLE001 - as web frameworks do
                self.faults.append(error)
                return Reply(500, "Internal Server Error")
        known = any(path == request.path for _, path in self.routes)
        return Reply(*((405, NOT_ALLOWED) if known else (404, NOT_FOUND)))

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self.spawn(self._serve(reader, writer))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await read_request(reader)
                with suppress(ValueError):
                    self.received.append(request.document)
                write_reply(writer, await self._answer(request))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


NOT_FOUND = {"detail": "Not Found"}
NOT_ALLOWED = {"detail": "Method Not Allowed"}


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    verb, target, _ = head.split("\r\n", 1)[0].split(" ")
    where = urlsplit(target)
    body = await reader.readexactly(find_length(head))
    return Request(verb, where.path, dict(parse_qsl(where.query)), body)


def find_length(head: str) -> int:
    """Return how long the body is that follows *head*."""
    for line in head.lower().split("\r\n"):
        if line.startswith("content-length:"):
            return int(line.partition(":")[2])
    return 0


def write_reply(writer: asyncio.StreamWriter, reply: Reply) -> None:
    is_text = isinstance(reply.document, str)
    body = reply.document if is_text else json.dumps(reply.document)
    body = "" if reply.document is None else body
    kind = "text/plain" if is_text else "application/json"
    head = f"HTTP/1.1 {reply.status} X\r\nContent-Type: {kind}\r\n"
    writer.write(f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}".encode())


async def post(url: str, document: Json, within: float = 30.0) -> tuple[int, Json]:
    """Post *document* (None for an empty body) on a connection of its own."""
    where = urlsplit(url)
    target = where.path + (f"?{where.query}" if where.query else "")
    body = b"" if document is None else json.dumps(document).encode()
    head = f"POST {target} HTTP/1.1\r\nHost: {where.netloc}\r\nAccept: */*\r\nConnection: close\r\n"
    if body:
        head += "Content-Type: application/json\r\n"
    async with asyncio.timeout(within):
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).decode()
            reply = await reader.readexactly(find_length(answer))
        except asyncio.IncompleteReadError as error:
            raise ConnectionError("the connection was closed") from error
        finally:
            writer.close()
    return int(answer.split(" ", 2)[1]), read_json(reply)


def read_json(body: bytes) -> Json:
    """Return the document in *body*, or its text if it is none."""
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")


def call(method: str, params: Json, number: Json = 1) -> Json:
    return {"jsonrpc": "2.0", "method": method, "params": params, "id": number}


def seconds(after: float = 0.0) -> str:
    """Return the time in whole seconds, so much later than now."""
    return f"{_now(after):%Y-%m-%dT%H:%M:%SZ}"


def milliseconds(after: float = 0.0) -> str:
    return f"{_now(after):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def microseconds(after: float = 0.0) -> str:
    return f"{_now(after):%Y-%m-%dT%H:%M:%S.%fZ}"


def _now(after: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=after)  # noqa: TID251 - another program's clock


def find_parity(number: int) -> str:
    return "odd" if number % 2 else "even"


def find_winner(choices: Mapping[str, str], number: int) -> str | None:
    """Return who alone was right, None for a draw."""
    right = [who for who, chosen in choices.items() if chosen == find_parity(number)]
    return right[0] if len(right) == 1 else None


def find_points(winner: str | None, players: Sequence[str]) -> dict[str, int]:
    return {who: 1 if winner is None else 3 * (who == winner) for who in players}


def circle(players: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return the rounds in which everybody of an even number meets everybody once."""
    ring, rounds = list(players), []
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        rounds.append([*zip(ring[:half], reversed(ring[half:]), strict=True)])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


class Table:
    """The points of a manager, counted as it counts them."""

    def __init__(self) -> None:
        self.results: dict[str, str | None] = {}
        """The winner of each match that was reported."""
        self.rows: dict[str, dict[str, int]] = {}

    def count(self, who: str, outcome: str) -> None:
        row = self.rows.setdefault(who, dict.fromkeys(("wins", "draws", "losses", "points"), 0))
        row[{"WIN": "wins", "DRAW": "draws", "LOSS": "losses"}[outcome]] += 1
        row["points"] += POINTS[outcome]

    def add(self, match_id: str, winner: str | None, players: Sequence[str]) -> None:
        self.results[match_id] = winner
        for who in players:
            self.count(who, "DRAW" if winner is None else "WIN" if who == winner else "LOSS")

    def list_rows(self, names: Mapping[str, str]) -> list[dict[str, Json]]:
        """Return a row for each player, the best first."""
        empty = dict.fromkeys(("wins", "draws", "losses", "points"), 0)
        found = [(who, self.rows.get(who, empty)) for who in names]
        ordered = sorted(found, key=lambda one: -one[1]["points"])
        return [
            {
                "rank": rank,
                "player_id": who,
                "display_name": names[who],
                "played": row["wins"] + row["draws"] + row["losses"],
                **row,
            }
            for rank, (who, row) in enumerate(ordered, 1)
        ]


def pick(rows: Sequence[dict[str, Json]], *fields: str, **renamed: str) -> list[dict[str, Json]]:
    """Return *rows* with these fields only, some of them under other names."""
    return [
        {field: row[field] for field in fields} | {new: row[old] for new, old in renamed.items()}
        for row in rows
    ]


def standard_book(host: str, players: int = 12) -> Book:
    """Return the places that document 001 gives to everybody, at *host*."""
    ports = {"LM01": 8000, "REF01": 8001, "REF02": 8002}
    ports |= {f"P{number:02}": 8100 + number for number in range(1, players + 1)}
    return {who: f"http://{host}:{port}/mcp" for who, port in ports.items()}
