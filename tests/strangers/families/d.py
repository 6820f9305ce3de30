"""Family D: replies are posted to the referee, orders come by REST, rounds are called "R1".

The method of a call is ignored: only message_type counts. Tokens are empty, ids are its own.
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from typing import ClassVar
from urllib.parse import urlencode

from strangers.families import kit
from strangers.families.kit import LEAGUE, Book, CallFailedError, Ended, Json, Reply, Request

Check = Callable[[Json], bool]


def is_text(value: Json) -> bool:
    return isinstance(value, str)


def is_text_or_null(value: Json) -> bool:
    return value is None or isinstance(value, str)


def is_sender(value: Json) -> bool:
    return is_text(value) and ":" in value


def is_row(value: Json) -> bool:
    names = ("rank", "player_id", "display_name", "played", "wins", "draws", "losses", "points")
    return isinstance(value, dict) and all(name in value for name in names)


def are_rows(value: Json) -> bool:
    return isinstance(value, list) and all(map(is_row, value))


def is_result(value: Json) -> bool:
    if not isinstance(value, dict) or value.get("status") not in {"WIN", "DRAW", "CANCELLED"}:
        return False
    chosen = (value.get("choices") or {}).values()
    return is_text(value.get("reason")) and all(one in {"even", "odd"} for one in chosen)


ENVELOPE: Mapping[str, Check] = {
    "protocol": lambda value: value == "league.v2",
    "sender": is_sender,
    "timestamp": is_text,
    "conversation_id": is_text,
}
META: Check = lambda value: isinstance(value, dict) and "display_name" in value  # noqa: E731 - a row
ROUND: Mapping[str, Check] = {"round_id": is_text, "league_id": is_text}


def check_model(message: Json, fields: Mapping[str, Check], title: str) -> None:
    """Raise what the author's validation says about the wrong fields."""
    needed = {**ENVELOPE, **fields}
    wrong = [name for name, check in needed.items() if not check(message.get(name))]
    if wrong:
        listed = "\n".join(f"{name}\n  Input should be valid" for name in wrong)
        raise ValueError(f"{len(wrong)} validation errors for {title}\n{listed}")


def envelope(kind: str, sender: str, conversation: str, **fields: Json) -> Json:
    return {
        "protocol": "league.v2",
        "message_type": kind,
        "sender": sender,
        "timestamp": kit.microseconds(),
        "conversation_id": conversation,
        "auth_token": "",
        **fields,
    }


class FamilyD(kit.Agent):
    models: ClassVar[Mapping[str, Mapping[str, Check]]] = {}
    """The messages that it knows, each with its fields."""

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.is_registered = False
        self.routes = {
            ("POST", "/mcp"): self.take,
            ("GET", "/health"): self.show_health,
            ("GET", "/openapi.json"): self.show_paths,
        }
        self.parameters: dict[str, tuple[str, ...]] = {}
        """What each path wants in its query."""

    async def start(self) -> None:
        self.spawn(self.live())

    async def show_health(self, request: Request) -> Reply:
        return Reply(200, {"status": "healthy", f"{self.role}_id": self.own_id})

    async def show_paths(self, request: Request) -> Reply:
        paths: dict[str, Json] = {}
        for verb, path in self.routes:
            query = {"in": "query", "required": True, "schema": {"type": "string"}}
            listed = [{"name": name, **query} for name in self.parameters.get(path, ())]
            paths.setdefault(path, {})[verb.lower()] = {"parameters": listed}
        info = {"title": self.title, "version": "0.1.0"}
        return Reply(200, {"openapi": "3.1.0", "info": info, "paths": paths})

    async def take(self, request: Request) -> Reply:
        frame = request.document
        number, params = frame.get("id", 1), frame.get("params") or {}
        kind: Json = params.get("message_type")
        if kind not in self.models:
            error = {"code": -32601, "message": f"Unknown message type: {kind}"}
            return Reply(400, {"jsonrpc": "2.0", "error": error, "id": number})
        try:
            check_model(params, self.models[kind], kind.title().replace("_", ""))
            result = await self.handle(kind, params)
        except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer
            wrong = {"code": -32603, "message": str(error)}
            return Reply(500, {"jsonrpc": "2.0", "error": wrong, "id": number})
        return Reply(200, {"jsonrpc": "2.0", "result": result, "id": number})

    async def handle(self, kind: str, message: Json) -> Json:
        raise NotImplementedError

    async def send(self, url: str, method: str, message: Json) -> Json:
        """Return the result; an error is tried three times, and then raised."""
        problem = ""
        for pause in (1.0, 2.0, 0.0):
            try:
                status, answer = await self.post(url, kit.call(method, message), 5.0)
            except (OSError, TimeoutError, ValueError) as error:
                problem = str(error)
            else:
                if status < 400 and isinstance(answer, dict) and "error" not in answer:
                    return answer.get("result")
                problem = f"JSON-RPC error: {answer}"
            await asyncio.sleep(pause)
        raise CallFailedError(f"MCP call failed after 3 retries: {problem}")

    async def register(self, method: str, kind: str, name: str, **more: Json) -> None:
        """Register before the port listens; if that fails, run all the same."""
        meta = {
            "display_name": name,
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": self.endpoint,
            **more,
        }
        sender, conversation = f"{self.role}:{self.own_id}", f"register_{self.own_id}"
        message = envelope(kind, sender, conversation, **{f"{self.role}_meta": meta})
        try:
            await self.send(self.book["LM01"], method, message)
            self.is_registered = True
        except CallFailedError as error:
            self.faults.append(error)
        await self.listen()


class Player(FamilyD):
    role, title = "player", "Player Agent"
    models: ClassVar[Mapping[str, Mapping[str, Check]]] = {
        "ROUND_ANNOUNCEMENT": {**ROUND, "matches": lambda value: isinstance(value, list)},
        "GAME_INVITATION": {
            "match_id": is_text,
            "role_in_match": lambda value: value in {"PLAYER_A", "PLAYER_B"},
            "opponent_id": is_text,
        },
        "CHOOSE_PARITY_CALL": {"match_id": is_text, "deadline": is_text},
        "GAME_OVER": {"match_id": is_text, "game_result": is_result},
        "LEAGUE_STANDINGS_UPDATE": {**ROUND, "standings": are_rows},
        "ROUND_COMPLETED": {
            **ROUND,
            "completed_matches": lambda value: isinstance(value, list),
            "next_round_id": is_text_or_null,
        },
        "LEAGUE_COMPLETED": {"champion": is_row, "final_standings": are_rows},
    }

    async def live(self) -> None:
        name = f"Agent {self.own_id}"
        await self.register("register_player", "LEAGUE_REGISTER_REQUEST", name)

    async def handle(self, kind: str, message: Json) -> Json:
        """Post the reply to the referee that its book has under that id, and only then answer."""
        referee = self.book.get(message["sender"].rpartition(":")[2], "referee")
        if kind == "GAME_INVITATION":
            own = {"accept": True, "arrival_timestamp": kit.microseconds()}
            reply = self.reply("GAME_JOIN_ACK", message, **own)
            await self.send(referee, "receive_game_join_ack", reply)
            return {"status": "joined"}
        if kind == "CHOOSE_PARITY_CALL":
            reply = self.reply("CHOOSE_PARITY_RESPONSE", message, parity_choice=self.choose())
            await self.send(referee, "receive_parity_response", reply)
            return {"status": "choice_sent"}
        return {"status": "acknowledged"}

    def reply(self, kind: str, message: Json, **fields: Json) -> Json:
        match_id = message["match_id"]
        return envelope(kind, f"player:{self.own_id}", match_id, match_id=match_id, **fields)


class Referee(FamilyD):
    role, title = "referee", "Referee Agent"
    models: ClassVar[Mapping[str, Mapping[str, Check]]] = {
        "GAME_JOIN_ACK": {
            "match_id": is_text,
            "accept": lambda value: isinstance(value, bool),
            "arrival_timestamp": is_text,
        },
        "CHOOSE_PARITY_RESPONSE": {
            "match_id": is_text,
            "parity_choice": lambda value: value in {"even", "odd"},
        },
    }
    query = (
        "match_id",
        "round_id",
        "player_a_id",
        "player_b_id",
        "player_a_endpoint",
        "player_b_endpoint",
    )

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.matches: list[Ended] = []
        self.routes["POST", "/admin/run_match"] = self.run_match
        self.parameters["/admin/run_match"] = self.query
        self._posted: dict[tuple[str, str], dict[str, Json]] = {}
        """The replies of each kind in each match, by player."""

    async def live(self) -> None:
        name, more = f"Referee {self.own_id}", {"max_concurrent_matches": 2}
        await self.register("register_referee", "REFEREE_REGISTER_REQUEST", name, **more)

    async def handle(self, kind: str, message: Json) -> Json:
        who = message["sender"].rpartition(":")[2]
        self._posted.setdefault((message["match_id"], kind), {})[who] = message
        return {"status": "acknowledged"}

    async def run_match(self, request: Request) -> Reply:
        missing = [name for name in self.query if name not in request.query]
        if missing:
            return Reply(
                422, {"detail": [{"loc": ["query", n], "msg": "missing"} for n in missing]}
            )
        self.spawn(self.play(request.query))
        return Reply(200, {"status": "started", "match_id": request.query["match_id"]})

    async def play(self, order: Mapping[str, str]) -> None:
        pair = (order["player_a_id"], order["player_b_id"])
        choices: dict[str, str] = {}
        try:
            choices = await self.ask_both(order, pair)
            result = await self.judge(order, pair, choices)
        except CallFailedError as error:
            result = {"status": "CANCELLED", "winner_player_id": None, "reason": str(error)}
        outcome = "cancelled" if result["status"] == "CANCELLED" else "completed"
        self.matches.append(Ended(order["match_id"], pair, choices, outcome))
        winner = result["winner_player_id"]
        score = kit.find_points(winner, pair) if outcome == "completed" else dict.fromkeys(pair, 0)
        about: Json = {"round_id": order["round_id"], "league_id": LEAGUE}
        about |= {"result": result, "score": score}
        report = self.write("MATCH_RESULT_REPORT", order, **about)
        await self.send(self.book["LM01"], "report_match_result", report)

    async def ask_both(self, order: Mapping[str, str], pair: tuple[str, str]) -> dict[str, str]:
        """Invite both, wait for what they post, ask both, and wait again."""
        invitations = [
            self.write(
                "GAME_INVITATION",
                order,
                game_type="even_odd",
                role_in_match=("PLAYER_A", "PLAYER_B")[seat],
                opponent_id=pair[1 - seat],
            )
            for seat in (0, 1)
        ]
        await self.tell_both(order, "receive_game_invitation", invitations)
        await self.collect(order["match_id"], "GAME_JOIN_ACK", pair, 5.0, "join")
        about = {"game_type": "even_odd", "deadline": kit.microseconds(30.0), "context": None}
        call = self.write("CHOOSE_PARITY_CALL", order, **about)
        await self.tell_both(order, "receive_parity_call", [call, call])
        kind = "CHOOSE_PARITY_RESPONSE"
        posted = await self.collect(order["match_id"], kind, pair, 30.0, "choose")
        return {who: posted[who]["parity_choice"] for who in pair}

    async def tell_both(self, order: Mapping[str, str], method: str, messages: list[Json]) -> None:
        urls = (order["player_a_endpoint"], order["player_b_endpoint"])
        sent = [self.send(url, method, one) for url, one in zip(urls, messages, strict=True)]
        for done in await asyncio.gather(*sent, return_exceptions=True):
            if isinstance(done, BaseException):
                raise done

    async def collect(
        self, match_id: str, kind: str, pair: tuple[str, str], within: float, verb: str
    ) -> dict[str, Json]:
        posted = self._posted.setdefault((match_id, kind), {})
        for _ in range(int(within * 10)):
            if all(who in posted for who in pair):
                return posted
            await asyncio.sleep(0.1)
        raise CallFailedError(f"Players failed to {verb}")

    async def judge(
        self, order: Mapping[str, str], pair: tuple[str, str], choices: Mapping[str, str]
    ) -> Json:
        number = self.rng.randint(1, 10)
        winner = kit.find_winner(choices, number)
        result = {
            "status": "WIN" if winner else "DRAW",
            "winner_player_id": winner,
            "drawn_number": number,
            "number_parity": kit.find_parity(number),
            "choices": dict(choices),
            "reason": f"number {number} is {kit.find_parity(number)}",
        }
        over = self.write("GAME_OVER", order, game_result=result)
        for seat in "ab":
            try:
                await self.send(order[f"player_{seat}_endpoint"], "receive_game_over", over)
            except CallFailedError as error:
                self.faults.append(error)
        return result

    def write(self, kind: str, order: Mapping[str, str], **fields: Json) -> Json:
        match_id = order["match_id"]
        return envelope(kind, f"referee:{self.own_id}", match_id, match_id=match_id, **fields)


class Manager(FamilyD):
    role, title = "league", "League Manager"
    models: ClassVar[Mapping[str, Mapping[str, Check]]] = {
        "REFEREE_REGISTER_REQUEST": {"referee_meta": META},
        "LEAGUE_REGISTER_REQUEST": {"player_meta": META},
        "MATCH_RESULT_REPORT": {
            "match_id": is_text,
            **ROUND,
            "result": is_result,
            "score": lambda value: isinstance(value, dict),
        },
    }

    def __init__(self, book: Book) -> None:
        super().__init__("LM01", book)
        self.players: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.referees: dict[str, str] = {}
        self.table = kit.Table()
        self.over = asyncio.Event()
        self._rounds: list[list[tuple[str, str]]] = []

    async def start(self) -> None:
        await self.listen()

    async def show_health(self, request: Request) -> Reply:
        return Reply(200, {"status": "healthy", "league_id": LEAGUE})

    async def handle(self, kind: str, message: Json) -> Json:
        if kind == "MATCH_RESULT_REPORT":
            return await self.take_report(message)
        role = "referee" if kind.startswith("REFEREE") else "player"
        members, letters = (self.referees, "REF") if role == "referee" else (self.players, "P")
        who = f"{letters}{len(members) + 1:02}"
        members[who] = message[f"{role}_meta"]["contact_endpoint"]
        self.names[who] = message[f"{role}_meta"]["display_name"]
        fields: Json = {"auth_token": f"jwt.{uuid.uuid4().hex}", "status": "ACCEPTED"}
        fields |= {f"{role}_id": who, "league_id": LEAGUE, "rejection_reason": None}
        name = kind.replace("REQUEST", "RESPONSE")
        return {
            "status": "success",
            "response": self.write(name, message["conversation_id"]) | fields,
        }

    def write(self, kind: str, conversation: str, **fields: Json) -> dict[str, Json]:
        written: dict[str, Json] = envelope(
            kind, "league_manager:LEAGUE_MANAGER_01", conversation, **fields
        )
        return written

    async def begin(self) -> None:
        """Do what POST /admin/start_league does."""
        self._rounds = kit.circle([*self.players])
        self.spawn(self.open_round(1))

    async def open_round(self, number: int) -> None:
        name = f"R{number}"
        matches = [
            {
                "match_id": f"{name}M{m}",
                "game_type": "even_odd",
                "player_A_id": first,
                "player_B_id": second,
                "referee_endpoint": self.book["REF01"],  # not where it registered
            }
            for m, (first, second) in enumerate(self._rounds[number - 1], 1)
        ]
        about = {"round_id": name, "league_id": LEAGUE, "matches": matches}
        notice = self.write("ROUND_ANNOUNCEMENT", f"round_{name}", **about)
        await self.tell("receive_round_announcement", notice)
        for match in matches:
            await self.order(name, match)

    async def order(self, name: str, match: Json) -> None:
        first, second = match["player_A_id"], match["player_B_id"]
        query = {
            "match_id": match["match_id"],
            "round_id": name,
            "player_a_id": first,
            "player_b_id": second,
            "player_a_endpoint": self.players[first],
            "player_b_endpoint": self.players[second],
        }
        base = match["referee_endpoint"].removesuffix("/mcp")
        status, _ = await self.post(f"{base}/admin/run_match?{urlencode(query)}", None)
        if status >= 300:
            self.problems.append(f"HTTP {status}")

    async def tell(self, method: str, notice: Json) -> None:
        sent = [self.send(url, method, notice) for url in self.players.values()]
        for done in await asyncio.gather(*sent, return_exceptions=True):
            if isinstance(done, BaseException):
                self.faults.append(done)

    async def take_report(self, message: Json) -> Json:
        """Count a report, from anybody and as often as it comes; answer it last of all."""
        winner, name = message["result"].get("winner_player_id"), message["round_id"]
        self.table.add(message["match_id"], winner, [*message["score"]])
        if message["result"]["status"] == "CANCELLED":
            self.problems.append(message["match_id"])
        players = {who: self.names[who] for who in self.players}
        rows = self.table.list_rows(players)
        about = {"league_id": LEAGUE, "round_id": name, "standings": rows}
        update = self.write("LEAGUE_STANDINGS_UPDATE", f"standings_{name}", **about)
        await self.tell("receive_standings_update", update)
        number = int(name.removeprefix("R"))
        done = [one for one in self.table.results if one.startswith(f"{name}M")]
        if len(done) == len(self._rounds[number - 1]):
            await self.end_round(number, done, rows)
        return {"status": "success"}

    async def end_round(self, number: int, done: list[str], rows: list[Json]) -> None:
        name, is_last = f"R{number}", number == len(self._rounds)
        following = None if is_last else f"R{number + 1}"
        about: Json = {"round_id": name, "league_id": LEAGUE, "completed_matches": done}
        about["next_round_id"] = following
        notice = self.write("ROUND_COMPLETED", f"round_complete_{name}", **about)
        await self.tell("receive_round_completed", notice)
        if not is_last:
            await asyncio.sleep(2.0)
            await self.open_round(number + 1)
            return
        final: Json = {"league_id": LEAGUE, "champion": rows[0], "final_standings": rows}
        final |= {"total_rounds": number, "total_matches": len(self.table.results)}
        notice = self.write("LEAGUE_COMPLETED", "league_complete", **final)
        await self.tell("receive_league_completed", notice)
        self.over.set()
