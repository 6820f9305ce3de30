"""Family A: strict models, whole seconds only, `league_manager:LM01` only, its own error codes.

Players and referees find each other in their own configuration, and every answer has an error
beside its result.
"""

import asyncio
import re
import uuid
from collections.abc import Mapping
from typing import Any

from strangers.families import kit
from strangers.families.kit import LEAGUE, Book, Ended, Json, Reply, Request

ALIASES = {
    "register_referee": "REFEREE_REGISTER_REQUEST",
    "register_player": "LEAGUE_REGISTER_REQUEST",
    "handle_game_invitation": "GAME_INVITATION",
    "choose_parity": "CHOOSE_PARITY_CALL",
    "notify_match_result": "GAME_OVER",
    "game_join_ack": "GAME_JOIN_ACK",
    "choose_parity_response": "CHOOSE_PARITY_RESPONSE",
    "notify_round": "ROUND_ANNOUNCEMENT",
    "update_standings": "LEAGUE_STANDINGS_UPDATE",
    "notify_round_completed": "ROUND_COMPLETED",
    "notify_league_completed": "LEAGUE_COMPLETED",
    "notify_game_error": "GAME_ERROR",
    "report_match_result": "MATCH_RESULT_REPORT",
    "league_query": "LEAGUE_QUERY",
}
STAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
SENDER = re.compile(r"(player|referee|league_manager):[A-Z0-9]+")
ENVELOPE = ("sender", "timestamp", "conversation_id", "message_type")
NOTICES = {"ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_STANDINGS_UPDATE", "LEAGUE_COMPLETED"}


class Refusal(Exception):  # noqa: N818 - it is an answer
    def __init__(self, status: int, code: int, message: str, error_code: str, **data: Any) -> None:
        super().__init__(message)
        self.status, self.code = status, code
        self.data = {"error_code": error_code, "message": message, **data}


def check_frame(frame: Json) -> None:
    """Refuse what is not exactly a frame."""
    is_frame = isinstance(frame, dict) and set(frame) == {"jsonrpc", "method", "params", "id"}
    if not is_frame or not isinstance(frame["params"], dict) or frame["id"] is None:
        raise Refusal(400, -32600, "Invalid Request", "E002")


def check_model(message: Json, fields: tuple[str, ...]) -> None:
    """Refuse *message* unless it has these fields, whole seconds and a sender of the pattern."""
    missing = [name for name in (*ENVELOPE, *fields) if message.get(name) is None]
    stamp, sender = str(message.get("timestamp")), str(message.get("sender"))
    wrong = [*missing]
    wrong += [] if STAMP.fullmatch(stamp) else [f"Invalid timestamp format: '{stamp}'"]
    wrong += [] if SENDER.fullmatch(sender) else [f"Invalid sender: '{sender}'"]
    if wrong:
        raise Refusal(400, -32602, "Invalid params", "E002", details="\n".join(wrong))


def envelope(kind: str, sender: str, conversation: str, token: str, **fields: Json) -> Json:
    """Return a message with every field of the envelope; those without a value are null."""
    base = {
        "protocol": "league.v2",
        "message_type": kind,
        "sender": sender,
        "timestamp": kit.seconds(),
        "conversation_id": conversation,
        "auth_token": token,
        "league_id": None,
        "round_id": None,
        "match_id": None,
    }
    return {**base, **fields}


class FamilyA(kit.Agent):
    shows_result_beside_error = False
    token = ""

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.routes = {("POST", "/mcp"): self.take, ("GET", "/health"): self.show_health}

    async def show_health(self, request: Request) -> Reply:
        return Reply(200, {"status": "ok"})

    async def take(self, request: Request) -> Reply:
        frame = request.document
        number = frame.get("id") if isinstance(frame, dict) else None
        beside = {"result": None} if self.shows_result_beside_error else {}
        try:
            check_frame(frame)
            kind = ALIASES.get(frame["method"], frame["method"])
            result = await self.handle(kind, frame["params"])
        except Refusal as refusal:
            error: Json = {"code": refusal.code, "message": str(refusal)}
            error |= {"data": {**refusal.data, **self.show(frame)}}
            return Reply(refusal.status, {"jsonrpc": "2.0", **beside, "error": error, "id": number})
        return Reply(200, {"jsonrpc": "2.0", "result": result, "error": None, "id": number})

    def show(self, frame: Json) -> Json:
        """Return what an error repeats of the request."""
        return {} if self.shows_result_beside_error else {"payload": frame}

    async def handle(self, kind: str, message: Json) -> Json:
        raise NotImplementedError

    async def send(self, url: str, message: Json) -> Json:
        """Post a message; only a call that nobody answers is repeated."""
        for pause in (2.0, 4.0, None):
            try:
                _, answer = await self.post(url, kit.call(message["message_type"], message))
            except (OSError, TimeoutError):
                if pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                return answer if isinstance(answer, dict) else {}
        return {}

    def apply(self, kind: str, role: str, **more: Json) -> Json:
        meta = {
            "display_name": f"{role.title()} {self.own_id[-2:]}",
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": self.endpoint,
            **more,
        }
        conversation = f"conv-{uuid.uuid4()}"
        sender = f"{role}:{self.own_id}"
        return envelope(kind, sender, conversation, "", **{f"{role}_meta": meta})


def unknown_method() -> Refusal:
    return Refusal(404, -32601, "Method not found", "E018")


class Player(FamilyA):
    shows_result_beside_error = True
    models: Mapping[str, tuple[str, ...]] = {
        "GAME_INVITATION": ("league_id", "round_id", "match_id", "role_in_match", "opponent_id"),
        "CHOOSE_PARITY_CALL": ("match_id", "player_id", "game_type", "context", "deadline"),
        "GAME_OVER": ("match_id", "game_type", "game_result"),
        "GAME_ERROR": ("match_id", "error_code", "retry_info", "consequence"),
    }

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.is_registered = False
        roles = {"P": "player", "R": "referee", "L": "league_manager"}
        self.known = {f"{roles[who[0]]}:{who}" for who in book}

    async def live(self) -> None:
        for pause in (2.0, 4.0, 8.0, None):
            request = self.apply("LEAGUE_REGISTER_REQUEST", "player")
            answer = await self.send(self.book["LM01"], request)
            if self.is_admission(answer.get("result")):
                self.is_registered = True
                self.own_id = answer["result"]["player_id"]
                self.token = answer["result"]["auth_token"]
                return
            if pause is not None:
                await asyncio.sleep(pause)

    def is_admission(self, result: Json) -> bool:
        if not isinstance(result, dict):
            return False
        sender, stamp = str(result.get("sender")), str(result.get("timestamp"))
        is_valid = SENDER.fullmatch(sender) and STAMP.fullmatch(stamp)
        return bool(is_valid) and result.get("status") == "ACCEPTED" and "player_id" in result

    async def handle(self, kind: str, message: Json) -> Json:
        if message.get("protocol") != "league.v2":
            raise Refusal(400, -32602, "Protocol mismatch", "E011")
        if kind in self.models:
            check_model(message, self.models[kind])
        if message.get("sender") not in self.known:
            sender = message.get("sender")
            raise Refusal(400, -32602, "Sender not registered", "E004", sender=sender)
        if message.get("game_type", "even_odd") != "even_odd":
            raise Refusal(400, -32602, "Unsupported game_type", "E002")
        if not message.get("auth_token"):
            raise Refusal(401, -32001, "Missing auth token", "E012")
        if kind in {"GAME_INVITATION", "CHOOSE_PARITY_CALL"}:
            return self.reply(kind, message)
        if kind not in {*NOTICES, "GAME_OVER", "GAME_ERROR"}:
            raise unknown_method()
        return self.acknowledge(kind, message)

    def reply(self, kind: str, message: Json) -> Json:
        joins = kind == "GAME_INVITATION"
        own = {"arrival_timestamp": kit.seconds(), "accept": True}
        fields = {"match_id": message["match_id"], "player_id": self.own_id}
        fields |= own if joins else {"parity_choice": self.choose()}
        name = "GAME_JOIN_ACK" if joins else "CHOOSE_PARITY_RESPONSE"
        conversation, token = message["conversation_id"], message["auth_token"]
        sender = f"player:{self.own_id}"
        about = {"league_id": message.get("league_id")}
        return envelope(name, sender, conversation, token, **about, **fields)

    def acknowledge(self, kind: str, message: Json) -> Json:
        common = {"message_type": kind, "conversation_id": message.get("conversation_id")}
        common["sender"] = f"player:{self.own_id}"
        if kind == "GAME_OVER":
            more = {"match_id": message["match_id"], "auth_token": message["auth_token"]}
            return {"status": "ack", **common, **more}
        about = {name: message[name] for name in ("round_id",) if message.get(name)}
        return {**common, "status": "acknowledged", "player_id": self.own_id, **about}


class Referee(FamilyA):
    join_patience, move_patience = 5.0, 30.0

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.matches: list[Ended] = []
        self.is_registered = False
        self._posted: dict[tuple[str, str, str], Json] = {}
        """Replies that were posted, by conversation, player and kind."""
        self._conversations: set[str] = set()

    async def live(self) -> None:
        request = self.apply("REFEREE_REGISTER_REQUEST", "referee", max_concurrent_matches=10)
        result = (await self.send(self.book["LM01"], request)).get("result") or {}
        if result.get("status") == "ACCEPTED":
            self.is_registered = True
            self.own_id, self.token = result["referee_id"], result["auth_token"]

    async def handle(self, kind: str, message: Json) -> Json:
        if kind in {"GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"}:
            return self.keep_posted(kind, message)
        if kind != "START_MATCH":
            raise unknown_method()
        if message.get("sender") != "league_manager:LM01":
            sender = message.get("sender")
            raise Refusal(400, -32602, "Sender not registered", "E004", sender=sender)
        for name in ("match_id", "round_id", "player_a_id", "player_b_id", "conversation_id"):
            if name not in message:
                raise Refusal(400, -32602, f"Missing required parameter: {name}", "E002")
        if not self.is_registered:
            text = "Referee not registered - cannot conduct matches"
            raise Refusal(403, -32000, text, "E004")
        self.spawn(self.conduct(message))
        common = {"conversation_id": message["conversation_id"], "match_id": message["match_id"]}
        return {"message_type": "START_MATCH_ACK", "status": "MATCH_STARTED", **common}

    def keep_posted(self, kind: str, message: Json) -> Json:
        conversation = message.get("conversation_id")
        if conversation not in self._conversations:
            raise Refusal(404, -32000, "Match not found", "E005")
        if not message.get("auth_token"):
            raise Refusal(401, -32001, "Missing auth token", "E012")
        self._posted[conversation, str(message.get("sender")), kind] = message
        return {"status": "RECEIVED"}

    async def conduct(self, order: Json) -> None:
        pair = (order["player_a_id"], order["player_b_id"])
        if not all(who in self.book for who in pair):
            self.matches.append(Ended(order["match_id"], pair, {}, "silent"))
            return
        self._conversations.add(order["conversation_id"])
        await asyncio.gather(*(self.invite(order, pair, seat) for seat in (0, 1)))
        replies = await asyncio.gather(*(self.ask(order, pair, seat) for seat in (0, 1)))
        choices = {w: r["parity_choice"] for w, r in zip(pair, replies, strict=True) if r}
        if len(choices) == 2:
            await self.finish(order, pair, choices)
        else:  # a match with a technical loss is never reported
            self.matches.append(Ended(order["match_id"], pair, choices, "technical"))

    async def invite(self, order: Json, pair: tuple[str, str], seat: int) -> Json:
        fields = {"game_type": "even_odd", "role_in_match": ("PLAYER_A", "PLAYER_B")[seat]}
        fields |= {"opponent_id": pair[1 - seat]}
        fields |= {"league_id": LEAGUE, "round_id": order["round_id"]}
        asked = self.write("GAME_INVITATION", order, **fields)
        return await self.exchange(asked, pair[seat], "GAME_JOIN_ACK", self.join_patience)

    async def ask(self, order: Json, pair: tuple[str, str], seat: int) -> Json:
        context = {"opponent_id": pair[1 - seat], "round_id": order["round_id"]}
        fields = {"player_id": pair[seat], "game_type": "even_odd", "context": context}
        fields["deadline"] = kit.seconds(self.move_patience)
        asked = self.write("CHOOSE_PARITY_CALL", order, **fields)
        return await self.exchange(asked, pair[seat], "CHOOSE_PARITY_RESPONSE", self.move_patience)

    def write(self, kind: str, order: Json, **fields: Json) -> Json:
        sender = f"referee:{self.own_id}"
        about = {"match_id": order["match_id"], **fields}
        return envelope(kind, sender, order["conversation_id"], self.token, **about)

    async def exchange(self, asked: Json, who: str, wanted: str, within: float) -> Json:
        """Return the reply in the answer, or posted, or None after an error to the player."""
        result = (await self.send(self.book[who], asked)).get("result")
        if self.is_reply(result, asked, who, wanted):
            return result
        await asyncio.sleep(within)
        posted = self._posted.get((asked["conversation_id"], f"player:{who}", wanted))
        if self.is_reply(posted, asked, who, wanted):
            return posted
        retry = {"retry_count": 0, "max_retries": 3, "next_retry_at": kit.seconds(2.0)}
        fields = {"error_code": "E001", "retry_info": retry, "consequence": "technical loss"}
        await self.send(self.book[who], self.write("GAME_ERROR", asked, **fields))
        await asyncio.sleep(2.0)
        return None

    def is_reply(self, reply: Json, asked: Json, who: str, wanted: str) -> bool:
        if not isinstance(reply, dict) or reply.get("message_type") != wanted:
            return False
        is_theirs = reply.get("sender") == f"player:{who}"
        same = reply.get("conversation_id") == asked["conversation_id"]
        return is_theirs and same and bool(STAMP.fullmatch(str(reply.get("timestamp"))))

    async def finish(self, order: Json, pair: tuple[str, str], choices: Mapping[str, str]) -> None:
        number = self.rng.randint(1, 10)
        winner = kit.find_winner(choices, number)
        statuses = [_find_status(who, winner) for who in pair]
        about = {"league_id": LEAGUE, "round_id": order["round_id"], "game_type": "even_odd"}
        for seat, who in enumerate(pair):
            told = {
                "status": statuses[seat],
                "winner_player_id": winner,
                "drawn_number": number,
                "number_parity": kit.find_parity(number),
                "player_choices": dict(choices),
                "opponent_id": pair[1 - seat],
                "points_awarded": kit.POINTS[statuses[seat]],
            }
            over = self.write("GAME_OVER", order, **about, game_result=told)
            await self.send(self.book[who], over)
        self.matches.append(Ended(order["match_id"], pair, choices, "completed"))
        result = {
            "winner": winner or "DRAW",
            "score": kit.find_points(winner, pair),
            "match_status": "COMPLETED",
            "player_a_status": statuses[0],
            "player_b_status": statuses[1],
        }
        report = self.write("MATCH_RESULT_REPORT", order, **about, result=result)
        await self.send(self.book["LM01"], report)


def _find_status(who: str, winner: str | None) -> str:
    return "DRAW" if winner is None else "WIN" if who == winner else "LOSS"


class Manager(FamilyA):
    def __init__(self, book: Book) -> None:
        super().__init__("LM01", book)
        self.players: dict[str, str] = {}
        self.referees: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self.table = kit.Table()
        self.over = asyncio.Event()
        self._reported = asyncio.Event()

    async def handle(self, kind: str, message: Json) -> Json:
        if kind in {"REFEREE_REGISTER_REQUEST", "LEAGUE_REGISTER_REQUEST"}:
            return self.register(kind, message)
        if kind == "MATCH_RESULT_REPORT":
            return self.take_report(message)
        if kind == "LEAGUE_QUERY":
            return self.answer_query(message)
        raise unknown_method()

    def register(self, kind: str, message: Json) -> Json:
        role = "referee" if kind.startswith("REFEREE") else "player"
        for name in ("sender", "timestamp", "conversation_id", f"{role}_meta"):
            if name not in message:
                raise Refusal(400, -32602, f"Missing required parameter: {name}", "E002")
        who = message["sender"].partition(":")[2]
        members = self.referees if role == "referee" else self.players
        if who in members:
            raise Refusal(409, -32000, f"{role.title()} already registered", "E017")
        members[who] = message[f"{role}_meta"]["contact_endpoint"]
        self.tokens[who] = uuid.uuid4().hex
        fields = {"league_id": LEAGUE, "status": "ACCEPTED", f"{role}_id": who, "reason": None}
        name = kind.replace("REQUEST", "RESPONSE")
        return self.write(name, message["conversation_id"], self.tokens[who], **fields)

    def write(self, kind: str, conversation: str, token: str, **fields: Json) -> Json:
        return envelope(kind, "league_manager:LM01", conversation, token, **fields)

    def take_report(self, message: Json) -> Json:
        who = str(message.get("sender")).partition(":")[2]
        if who not in self.referees:
            raise Refusal(403, -32602, "Sender not registered", "E004")
        if not message.get("auth_token"):
            raise Refusal(401, -32000, "Missing auth token", "E003")
        if message["auth_token"] != self.tokens[who]:
            raise Refusal(401, -32000, "Invalid auth token", "E012")
        self.spawn(self.count_report(message))
        common = {"conversation_id": message.get("conversation_id"), "status": "ACCEPTED"}
        text = "Result queued for processing"
        return {"message_type": "MATCH_RESULT_REPORT_ACK", **common, "message": text}

    async def count_report(self, message: Json) -> None:
        """Count a report that was acknowledged already; one that does not fit vanishes."""
        check_model(message, ("match_id", "round_id", "result"))
        winner, score = message["result"]["winner"], message["result"]["score"]
        self.table.results[message["match_id"]] = winner
        for who in score:  # null, which the documents write for a draw, is a loss for both
            outcome = "DRAW" if winner == "DRAW" else "WIN" if who == winner else "LOSS"
            self.table.count(who, outcome)
        names = {who: who for who in self.table.rows}
        fields = ("player_id", "points", "wins", "draws", "losses")
        rows = kit.pick(self.table.list_rows(names), *fields, matches_played="played")
        about = {"league_id": LEAGUE, "round_id": message["round_id"], "standings": rows}
        await self.tell("LEAGUE_STANDINGS_UPDATE", f"standings-{kit.seconds()}", **about)
        self._reported.set()

    def answer_query(self, message: Json) -> Json:
        if message.get("query_type") != "GET_STANDINGS":
            raise Refusal(400, -32602, "Unsupported query type", "E002")
        rows = self.table.list_rows({who: who for who in self.players})
        conversation = message.get("conversation_id")
        answer = {"query_type": "GET_STANDINGS", "success": True, "data": {"standings": rows}}
        return self.write("LEAGUE_QUERY_RESPONSE", conversation, "", **answer)

    async def tell(self, kind: str, conversation: str, **fields: Json) -> None:
        """Send a notice to every player, with the token of that player."""
        await asyncio.gather(
            *(
                self.send(
                    self.book.get(who, self.players[who]),
                    self.write(kind, conversation, self.tokens[who], **fields),
                )
                for who in self.players
            ),
            return_exceptions=True,
        )

    async def begin(self) -> None:
        """Do what the method start_league does."""
        self.spawn(self.play())

    async def play(self) -> None:
        rounds = kit.circle(sorted(self.players))
        for number, pairs in enumerate(rounds, 1):
            matches = [(f"R{number}M{m}", *pair) for m, pair in enumerate(pairs, 1)]
            await self.announce(number, matches)
            for match in matches:
                await self.order(number, match)
            while not all(match_id in self.table.results for match_id, _, _ in matches):
                self._reported.clear()
                await self._reported.wait()
            summary = {"total_matches": len(matches), "wins": 0, "draws": 0}
            about: Json = {
                "league_id": LEAGUE,
                "round_id": number,
                "matches_completed": len(matches),
            }
            about["next_round_id"] = number + 1 if number < len(rounds) else None
            about["summary"] = {**summary, "technical_losses": 0}
            await self.tell("ROUND_COMPLETED", f"round-{number}-comp", **about)
        await self.tell_end(len(rounds))

    async def announce(self, number: int, matches: list[tuple[str, str, str]]) -> None:
        where = {"game_type": "even_odd", "referee_endpoint": next(iter(self.referees.values()))}
        listed = [
            {"match_id": match_id, "player_A_id": first, "player_B_id": second, **where}
            for match_id, first, second in matches
        ]
        about = {"league_id": LEAGUE, "round_id": number, "matches": listed}
        await self.tell("ROUND_ANNOUNCEMENT", f"round-{number}-announce", **about)

    async def order(self, number: int, match: tuple[str, str, str]) -> None:
        """Order a match by ids only; what the referee answers is not looked at."""
        who, url = next(iter(self.referees.items()))
        order = {
            "sender": "league_manager:LM01",
            "protocol": "league.v2",
            "message_type": "START_MATCH",
            "match_id": match[0],
            "round_id": number,
            "player_a_id": match[1],
            "player_b_id": match[2],
            "conversation_id": f"conv-{uuid.uuid4()}",
            "auth_token": self.tokens[who],
        }
        await self.send(url, order)

    async def tell_end(self, total_rounds: int) -> None:
        rows = self.table.list_rows({who: who for who in self.players})
        best = {name: rows[0][name] for name in ("player_id", "display_name", "points")}
        fields = ("player_id", "points", "wins", "draws", "losses", "rank")
        final = kit.pick(rows, *fields, matches_played="played")
        about = {"league_id": LEAGUE, "total_rounds": total_rounds}
        about |= {"total_matches": len(self.table.results), "champion": best}
        await self.tell("LEAGUE_COMPLETED", "league-complete", **about, final_standings=final)
        self.over.set()
