"""Family E: a reply is a request frame, an order is a ROUND_ANNOUNCEMENT, nobody shows a token.

Players are found by id in its own configuration. Whatever it does not know is
`{"status": "error", "message": "Unknown message type"}`, with HTTP 200.
"""

import asyncio
import itertools
import uuid
from collections.abc import Mapping

from strangers.families import kit
from strangers.families.kit import LEAGUE, Book, Ended, Json, Reply, Request

UNKNOWN = {"status": "error", "message": "Unknown message type"}
NOTICES = {
    "GAME_OVER",
    "ROUND_ANNOUNCEMENT",
    "ROUND_COMPLETED",
    "LEAGUE_STANDINGS_UPDATE",
    "LEAGUE_COMPLETED",
    "SHUTDOWN_COMMAND",
}


def is_frame(document: Json) -> bool:
    return document.get("jsonrpc") == "2.0" and "method" in document and "id" in document


def envelope(kind: str, sender: str, **fields: Json) -> Json:
    return {
        "protocol": "league.v2",
        "message_type": kind,
        "sender": sender,
        "timestamp": kit.milliseconds(),
        "conversation_id": str(uuid.uuid4()),
        **fields,
    }


class FamilyE(kit.Agent):
    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.is_registered = False
        self._numbers = itertools.count(1)
        self.routes = {("POST", "/mcp"): self.take, ("GET", "/openapi.json"): self.show_title}

    async def show_title(self, request: Request) -> Reply:
        paths: Json = {"/mcp": {"post": {"parameters": []}}}
        info = {"title": f"{self.role.title()} {self.own_id}".strip(), "version": "0.1.0"}
        return Reply(200, {"openapi": "3.1.0", "info": info, "paths": paths})

    async def take(self, request: Request) -> Reply:
        try:
            document = request.document
            framed = is_frame(document)
            message = document["params"] if framed else document
            answer = await self.handle(message.get("message_type"), message)
        except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer
            return Reply(500, {"status": "error", "message": str(error)})
        if answer is None:
            return Reply(200, UNKNOWN)
        if "method" in answer:
            return Reply(200, answer)
        number = {"jsonrpc": "2.0", "result": answer, "id": document.get("id")}
        return Reply(200, number if framed else answer)

    async def handle(self, kind: Json, message: Json) -> Json:
        """Return the result, or a whole request frame, or None for what it does not know."""
        raise NotImplementedError

    def request(self, message: Json, method: str | None = None) -> Json:
        name = method or message["message_type"].lower()
        return kit.call(name, message, next(self._numbers))

    async def send(self, url: str, message: Json, attempts: int = 1) -> Json:
        """Return whatever JSON came with HTTP 200; {} if none did."""
        for pause in [*(2.0, 4.0)[: attempts - 1], None]:
            try:
                status, answer = await self.post(url, self.request(message))
            except (OSError, TimeoutError):
                status, answer = 0, None
            if status == 200 and isinstance(answer, dict):
                return answer
            if pause is not None:
                await asyncio.sleep(pause)
        return {}

    async def register(self, method: str, kind: str, **more: Json) -> None:
        """Register once, 2 s after the start; the token that comes back is thrown away."""
        await asyncio.sleep(2.0)
        meta = {
            "display_name": f"{self.role.title()} {self.own_id}",
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": self.endpoint,
            **more,
        }
        sender = f"{self.role}:{self.own_id}"
        message = envelope(kind, sender, **{f"{self.role}_meta": meta})
        for pause in (2.0, 4.0, None):
            try:
                status, answer = await self.post(self.book["LM01"], self.request(message, method))
            except (OSError, TimeoutError):
                status, answer = 0, {}
            if status == 200:
                found = answer.get("result") or answer.get("params") or {}
                self.is_registered = found.get("status") == "ACCEPTED"
                return
            if pause is not None:
                await asyncio.sleep(pause)


class Player(FamilyE):
    role = "player"

    async def live(self) -> None:
        await self.register("register_player", "LEAGUE_REGISTER_REQUEST")

    async def handle(self, kind: Json, message: Json) -> Json:
        own = {"match_id": message.get("match_id"), "player_id": self.own_id}
        if kind == "GAME_INVITATION":
            own |= {"arrival_timestamp": kit.milliseconds(), "accept": True}
            return self.reply("GAME_JOIN_ACK", message, own)
        if kind == "CHOOSE_PARITY_CALL":
            own |= {"parity_choice": self.choose()}
            return self.reply("CHOOSE_PARITY_RESPONSE", message, own)
        if kind == "LEAGUE_COMPLETED":
            self.spawn(self.leave())
        return {"status": "acknowledged"} if kind in NOTICES else None

    def reply(self, kind: str, asked: Json, fields: Json) -> Json:
        """Return a whole request with an id of its own as the answer."""
        conversation = {"conversation_id": asked.get("conversation_id")}
        sender = f"player:{self.own_id}"
        return self.request(envelope(kind, sender, **fields) | conversation)

    async def leave(self) -> None:
        """Exit, whoever said that the league is completed."""
        await asyncio.sleep(1.0)
        self.stop_listening()


class Referee(FamilyE):
    role = "referee"

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.matches: list[Ended] = []

    async def live(self) -> None:
        kind = "REFEREE_REGISTER_REQUEST"
        await self.register("register_referee", kind, max_concurrent_matches=1)

    async def handle(self, kind: Json, message: Json) -> Json:
        if kind == "ROUND_ANNOUNCEMENT":
            own = [m for m in message["matches"] if m.get("referee_endpoint") == self.endpoint]
            self.spawn(self.play_all(message["round_id"], own))
            return {"status": "acknowledged", "matches_started": len(own)}
        if kind in {"GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"}:
            return {"status": "ok"}
        return {"status": "acknowledged"} if kind in NOTICES - {"GAME_OVER"} else None

    async def play_all(self, round_id: int, matches: list[Json]) -> None:
        for match in matches:
            await self.play(round_id, match)

    async def play(self, round_id: int, match: Json) -> None:
        """Play one match; when somebody did not join, nobody is ever told."""
        pair = (match["player_A_id"], match["player_B_id"])
        match_id = match["match_id"]
        if not all(who in self.book for who in pair):
            self.matches.append(Ended(match_id, pair, {}, "silent"))
            return
        acks = [await self.invite(round_id, match_id, pair, seat) for seat in (0, 1)]
        if [ack.get("message_type") for ack in acks] != ["GAME_JOIN_ACK"] * 2:
            self.matches.append(Ended(match_id, pair, {}, "silent"))
            return
        replies = [await self.ask(round_id, match_id, pair, seat) for seat in (0, 1)]
        found = zip(pair, (reply.get("parity_choice") for reply in replies), strict=True)
        choices = {who: chosen for who, chosen in found if chosen in {"even", "odd"}}
        await self.finish(round_id, match_id, pair, choices)

    async def invite(self, round_id: int, match_id: str, pair: tuple[str, str], seat: int) -> Json:
        role = ("player_a", "player_b")[seat]
        about = {"league_id": LEAGUE, "round_id": round_id, "match_id": match_id}
        about |= {"game_type": "even_odd", "role_in_match": role, "opponent_id": pair[1 - seat]}
        return await self.exchange(pair[seat], self.write("GAME_INVITATION", **about))

    async def ask(self, round_id: int, match_id: str, pair: tuple[str, str], seat: int) -> Json:
        context = {"opponent_id": pair[1 - seat], "round_id": round_id, "your_standings": {}}
        about: Json = {"match_id": match_id, "player_id": pair[seat], "game_type": "even_odd"}
        about |= {"context": context, "deadline": kit.milliseconds(30.0)}
        return await self.exchange(pair[seat], self.write("CHOOSE_PARITY_CALL", **about))

    async def exchange(self, who: str, message: Json) -> Json:
        """Return the message in the answer: in params of a request, or the answer itself."""
        answer = await self.send(self.book[who], message)
        return answer["params"] if is_frame(answer) else answer

    def write(self, kind: str, **fields: Json) -> Json:
        return envelope(kind, f"referee:{self.own_id}", **fields)

    async def finish(
        self, round_id: int, match_id: str, pair: tuple[str, str], choices: Mapping[str, str]
    ) -> None:
        number = self.rng.randint(1, 10) if len(choices) == 2 else 0
        winner = kit.find_winner(choices, number) if number else next(iter(choices), None)
        outcome = "completed" if number else "technical"
        self.matches.append(Ended(match_id, pair, choices, outcome))
        status = "WIN" if winner else "DRAW"
        result = {
            "status": status if number else "TECHNICAL_LOSS",
            "winner_player_id": winner,
            "drawn_number": number,
            "number_parity": kit.find_parity(number),
            "choices": dict(choices),
            "reason": "normal",
        }
        about = {"match_id": match_id, "game_type": "even_odd", "game_result": result}
        for who in pair:
            await self.send(self.book[who], self.write("GAME_OVER", **about))
        details = {"drawn_number": number, "choices": dict(choices)}
        score = {who: int(who == winner) for who in pair}
        report = self.write(
            "MATCH_RESULT_REPORT",
            league_id=LEAGUE,
            round_id=round_id,
            match_id=match_id,
            game_type="even_odd",
            result={"winner": winner, "score": score, "details": details},
        )
        await self.send(self.book["LM01"], report, attempts=3)


class Manager(FamilyE):
    role = "league_manager"
    schedule = (*itertools.combinations(("P01", "P02", "P03", "P04"), 2),)
    """Always these four, whoever has registered."""

    def __init__(self, book: Book, players: int = 4, referees: int = 1) -> None:
        super().__init__("LM01", book)
        self.wanted = (players, referees)
        self.players: dict[str, str] = {}
        self.referees: dict[str, str] = {}
        self.table = kit.Table()
        self.over = asyncio.Event()
        self._changed = asyncio.Event()

    async def begin(self) -> None:
        """Nothing: it begins by itself when enough have registered."""

    async def handle(self, kind: Json, message: Json) -> Json:
        if kind in {"REFEREE_REGISTER_REQUEST", "LEAGUE_REGISTER_REQUEST"}:
            return self.admit(kind, message)
        if kind == "MATCH_RESULT_REPORT":
            result = message["result"]
            self.table.add(message["match_id"], result["winner"], [*result["score"]])
            self._changed.set()
            return envelope("MATCH_RESULT_ACK", "league_manager", status="recorded")
        if kind == "LEAGUE_STATUS":
            raise KeyError(kind)
        return None

    async def take(self, request: Request) -> Reply:
        reply = await super().take(request)
        result = reply.document.get("result") or {}
        return Reply(200, result) if "error" in result else reply

    def admit(self, kind: str, message: Json) -> Json:
        role = "referee" if kind.startswith("REFEREE") else "player"
        members = self.referees if role == "referee" else self.players
        who = message["sender"].partition(":")[2]
        if who in members:
            return {"error": "Already registered"}
        members[who] = (message.get(f"{role}_meta") or {}).get("contact_endpoint", "")
        self._changed.set()
        given = {"status": "ACCEPTED", f"{role}_id": who}
        return envelope(kind.replace("REQUEST", "RESPONSE"), "league_manager", **given)

    async def wait_until(self, holds: object, within: float | None = None) -> None:
        assert callable(holds)
        async with asyncio.timeout(within):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def live(self) -> None:
        players, referees = self.wanted
        await self.wait_until(
            lambda: len(self.players) >= players and len(self.referees) >= referees
        )
        await asyncio.sleep(1.0)
        urls = [*self.referees.values()]
        for number in (1, 2, 3):
            pairs = self.schedule[2 * number - 2 : 2 * number]
            await self.play_round(number, pairs, urls)
            await asyncio.sleep(2.0)
        rows = self.list_rows()
        best = {"player_id": rows[0]["player_id"], "total_wins": rows[0]["wins"]}
        best["total_points"] = rows[0]["points"]
        final = {"league_id": LEAGUE, "total_rounds": 3, "total_matches": 6, "champion": best}
        await self.tell("LEAGUE_COMPLETED", **final, final_standings=rows)
        self.over.set()

    async def play_round(
        self, number: int, pairs: tuple[tuple[str, str], ...], urls: list[str]
    ) -> None:
        matches = [
            {
                "match_id": f"R{number}M{m}",
                "player_A_id": first,
                "player_B_id": second,
                "game_type": "even_odd",
                "referee_endpoint": urls[m % len(urls)],
            }
            for m, (first, second) in enumerate(pairs, 1)
        ]
        about: Json = {"league_id": LEAGUE, "round_id": number}
        await self.tell("ROUND_ANNOUNCEMENT", **about, matches=matches)
        ids = {match["match_id"] for match in matches}
        try:
            await self.wait_until(lambda: ids <= set(self.table.results), 60.0 * len(ids))
        except TimeoutError as error:
            self.faults.append(error)
        done = len(ids & set(self.table.results))
        summary = {"total_matches": len(ids), "completed_matches": done, "draws": 0}
        more = {"next_round_id": number + 1} if number < 3 else {}
        about |= {"matches_completed": done, "summary": summary, **more}
        await self.tell("ROUND_COMPLETED", **about)
        about = {"league_id": LEAGUE, "round_id": number, "standings": self.list_rows()}
        await self.tell("LEAGUE_STANDINGS_UPDATE", **about)

    def list_rows(self) -> list[dict[str, Json]]:
        rows = self.table.list_rows({who: who for who in self.players})
        fields = ("player_id", "wins", "losses", "draws", "points", "rank")
        return kit.pick(rows, *fields, games_played="played")

    async def tell(self, kind: str, **fields: Json) -> None:
        """Tell every player and referee, one after the other; answers are ignored."""
        for url in [*self.players.values(), *self.referees.values()]:
            await self.send(url, envelope(kind, "league_manager", **fields))
