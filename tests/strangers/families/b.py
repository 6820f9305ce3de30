"""Family B: everything is `tools/call`, every answer is text in content, under tool names of its own.

Nobody here uses the id that it was given. The manager ends when one order fails.
"""

import asyncio
import json
import re
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

from strangers.families import kit
from strangers.families.kit import LEAGUE, Book, CallFailedError, Ended, Json, Reply, Request

Tool = Callable[[Json], Coroutine[Any, Any, Json]]


class FamilyB(kit.Agent):
    """A server of tools; what goes wrong in one is -32603, and any other method -32601."""

    token: str | None = None

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.routes = {("POST", "/mcp"): self.take}
        self.tools: dict[str, Tool] = {}

    async def take(self, request: Request) -> Reply:
        frame = dict(request.document)
        number = frame.get("id")
        try:
            result = await self.run_method(frame.get("method"), frame.get("params") or {})
        except CallFailedError:
            error = {"code": -32601, "message": "Method not found"}
            return Reply(200, {"jsonrpc": "2.0", "error": error, "id": number})
        except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer
            wrong = {"code": -32603, "message": str(error)}
            return Reply(200, {"jsonrpc": "2.0", "error": wrong, "id": number})
        return Reply(200, {"jsonrpc": "2.0", "result": result, "id": number})

    async def run_method(self, method: Json, params: Json) -> Json:
        if method == "initialize":
            about = {"name": self.name(), "version": "1.0.0"}
            return {"protocolVersion": "2024-11-05", "serverInfo": about, "capabilities": {}}
        if method == "tools/list":
            return {"tools": [{"name": name} for name in self.tools]}
        if method != "tools/call":
            raise CallFailedError
        if params["name"] not in self.tools:
            raise ValueError(f"Unknown tool: {params['name']}")
        answer = await self.tools[params["name"]](params.get("arguments") or {})
        return {"content": [{"type": "text", "text": json.dumps(answer)}]}

    def name(self) -> str:
        return f"{type(self).__name__}-{self.own_id}"

    async def call_tool(self, url: str, name: str, arguments: Json) -> Json:
        """Return the result of a call; raise if it is an error, or none comes."""
        params = {"name": name, "arguments": arguments}
        number = self.rng.randint(1, 1_000_000)
        status, answer = await self.post(url, kit.call("tools/call", params, number))
        if status >= 400:
            raise CallFailedError(f"HTTP {status}")
        if "error" in answer:
            raise CallFailedError(str(answer["error"]))
        return answer["result"]

    def write(self, kind: str, sender: str, conversation: str, **fields: Json) -> Json:
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": sender,
            "timestamp": kit.seconds(),
            "conversation_id": conversation,
            **fields,
        }

    async def join(self, tool: str, meta: Json) -> None:
        """Register once, before the server listens; whatever comes back, the agent is served."""
        try:
            result = await self.call_tool(self.book["LM01"], tool, meta)
            self.token = read_text(result)["auth_token"]
        except (CallFailedError, OSError, LookupError, TypeError, TimeoutError) as error:
            self.faults.append(error)
        await self.listen()

    async def start(self) -> None:
        self.spawn(self.live())

    async def acknowledge(self, arguments: Json) -> Json:
        return {"status": "ACK"}


def read_text(result: Json) -> Json:
    """Return the JSON in the first text of a result, or the result."""
    return json.loads(result["content"][0]["text"]) if "content" in result else result


class Player(FamilyB):
    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.match_id: str | None = None
        notices = ("round", "standings", "round_completed", "league_completed")
        self.tools = {f"notify_{name}": self.acknowledge for name in notices}
        self.tools |= {"receive_game_invitation": self.join_match}
        self.tools |= {"choose_parity": self.answer_call, "receive_game_over": self.end_match}

    async def live(self) -> None:
        meta = {
            "protocol_version": "2.1.0",
            "display_name": self.name(),
            "game_types": ["even_odd"],
            "contact_endpoint": self.endpoint,
            "strategy": "random",
        }
        await self.join("register_player", {"player_meta": meta})

    async def join_match(self, arguments: Json) -> Json:
        self.match_id = arguments["match_id"]
        return {"status": "ACK"}

    async def answer_call(self, arguments: Json) -> Json:
        if self.match_id is None:
            raise AttributeError("'PlayerAgent' object has no attribute 'current_match'")
        return {
            "protocol": "league.v2",
            "message_type": "CHOOSE_PARITY_RESPONSE",
            "sender": f"player:{self.own_id}",
            "timestamp": kit.seconds(),
            "match_id": arguments.get("match_id"),
            "parity_choice": self.choose(),
        }

    async def end_match(self, arguments: Json) -> Json:
        arguments["game_result"].get("status")
        return {"status": "ACK", "received": True}


class Referee(FamilyB):
    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.matches: list[Ended] = []
        self.tools = {"start_match": self.play, "notify_league_completed": self.acknowledge}

    async def live(self) -> None:
        meta = {
            "display_name": self.name(),
            "version": "2.1.0",
            "game_types": ["even_odd"],
            "contact_endpoint": self.endpoint,
            "max_concurrent_matches": 1,
        }
        await self.join("register_referee", {"referee_meta": meta})

    async def play(self, order: Json) -> Json:
        """Play and report the match, and answer only then; any call that fails ends it."""
        match_id, round_id = order["match_id"], order["round_id"]
        pair = (order["player_A_id"], order["player_B_id"])
        urls = (order["player_A_endpoint"], order["player_B_endpoint"])
        for seat in (0, 1):
            await self.call_tool(urls[seat], "receive_game_invitation", self.invite(order, seat))
        choices = {}
        for seat, default in ((0, "even"), (1, "odd")):
            asked = self.ask(match_id, pair[seat])
            result = await self.call_tool(urls[seat], "choose_parity", asked)
            # It looks beside the content, where its own players put nothing.
            chosen = result.get("parity_choice", default)
            choices[pair[seat]] = chosen if chosen in {"even", "odd"} else default
        number = self.rng.randint(1, 10)
        winner = kit.find_winner(choices, number)
        over = self.end(match_id, winner, number, choices)
        for url in urls:
            await self.call_tool(url, "receive_game_over", over)
        self.matches.append(Ended(match_id, pair, choices, "completed"))
        await self.report(match_id, round_id, pair, winner, over["game_result"])
        return {"status": "STARTED", "match_id": match_id}

    def invite(self, order: Json, seat: int) -> Json:
        match_id = order["match_id"]
        who, other = order[f"player_{'AB'[seat]}_id"], order[f"player_{'BA'[seat]}_id"]
        return self.send_as(
            "GAME_INVITATION",
            f"invite-{match_id}-{who}",
            league_id=LEAGUE,
            round_id=order["round_id"],
            match_id=match_id,
            game_type="even_odd",
            role_in_match="PLAYER_A",  # both players get this one
            opponent_id=other,
        )

    def ask(self, match_id: str, who: str) -> Json:
        standings = {"wins": 0, "losses": 0, "draws": 0}
        return self.send_as(
            "CHOOSE_PARITY_CALL",
            f"parity-{match_id}-{who}",
            match_id=match_id,
            player_id=who,
            game_type="even_odd",
            context={"opponent_id": "", "round_id": 0, "your_standings": standings},
            deadline=kit.seconds(30.0),
        )

    def end(self, match_id: str, winner: str | None, number: int, choices: Json) -> Json:
        result = {
            "status": "WIN" if winner else "DRAW",
            "winner_player_id": winner,
            "drawn_number": number,
            "number_parity": kit.find_parity(number),
            "choices": choices,
            "reason": f"the number was {number}",
        }
        over = self.send_as("GAME_OVER", f"game-over-{match_id}", match_id=match_id)
        return {**over, "game_type": "even_odd", "game_result": result}

    def send_as(self, kind: str, conversation: str, **fields: Json) -> Json:
        sender, unique = f"referee:{self.own_id}", f"{conversation}-{uuid.uuid4().hex[:8]}"
        return self.write(kind, sender, unique, auth_token=self.token, **fields)

    async def report(
        self, match_id: str, round_id: int, pair: tuple[str, str], winner: str | None, over: Json
    ) -> None:
        outcome = "DRAW" if winner is None else f"PLAYER_{'AB'[pair.index(winner)]}_WIN"
        details = {
            "drawn_number": over["drawn_number"],
            "parity": over["number_parity"],
            "outcome": outcome,
            "reason": over["reason"],
            "choices": over["choices"],
        }
        score = kit.find_points(winner, pair)
        fields = {"league_id": LEAGUE, "round_id": round_id, "match_id": match_id}
        fields |= {"game_type": "even_odd"}
        fields["result"] = {"winner": winner, "score": score, "details": details}
        message = self.send_as("MATCH_RESULT_REPORT", f"report-{match_id}", **fields)
        await self.call_tool(self.book["LM01"], "report_match_result", message)


class Manager(FamilyB):
    def __init__(self, book: Book, open_for: float = 15.0) -> None:
        super().__init__("LM01", book)
        self.open_for = open_for
        self.players: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.referees: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self.table = kit.Table()
        self.over = asyncio.Event()
        self.is_open, self._is_ending = True, False
        self._rounds: list[list[tuple[str, str]]] = []
        self.tools = {
            "register_referee": self.register_referee,
            "register_player": self.register_player,
            "report_match_result": self.take_report,
            "get_standings": self.show_table,
            "handle_league_query": self.answer_query,
        }

    def name(self) -> str:
        return "LeagueManager"

    async def start(self) -> None:
        await self.listen()
        self.spawn(self.live())

    async def begin(self) -> None:
        """Nothing: it begins by itself when its time of registration is over."""

    async def live(self) -> None:
        try:
            await asyncio.sleep(2.0 + self.open_for)
            self.is_open = False
            await self.play()
        except Exception:  # the process ends with whatever goes wrong in it
            self.stop_listening()
            raise

    async def register_referee(self, arguments: Json) -> Json:
        meta = arguments["referee_meta"]
        for name in ("display_name", "version", "game_types", "contact_endpoint"):
            if name not in meta:
                return self.fail("E003", "MISSING_REQUIRED_FIELD", missing_field=name)
        who = f"REF{len(self.referees) + 1:02}"
        self.referees[who] = meta["contact_endpoint"]
        return self.admit("REFEREE_REGISTER_RESPONSE", "referee_id", who)

    async def register_player(self, arguments: Json) -> Json:
        meta = arguments.get("player_meta", arguments)
        version = str(meta.get("protocol_version", "1.0.0"))
        if not self.is_open:
            return self.fail("E018", "REGISTRATION_CLOSED")
        if not version.startswith("2."):
            about = {"provided_version": version, "required_version": "2.1.0"}
            return self.fail("E018", "PROTOCOL_VERSION_MISMATCH", **about)
        if "even_odd" not in meta["game_types"]:
            reason = "Game type not supported"
            return {"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "REJECTED"} | {
                "reason": reason
            }
        who = f"P{len(self.players) + 1:02}"
        self.players[who] = meta["contact_endpoint"]
        self.names[who] = meta.get("display_name", who)
        more = {"league_id": LEAGUE, "reason": None}
        return self.admit("LEAGUE_REGISTER_RESPONSE", "player_id", who) | more

    def admit(self, kind: str, field: str, who: str) -> dict[str, Json]:
        self.tokens[who] = f"tok_{who}_{uuid.uuid4().hex[:12]}"
        given = {field: who, "auth_token": self.tokens[who]}
        return {"message_type": kind, "status": "ACCEPTED", **given}

    def fail(self, code: str, description: str, **context: Json) -> Json:
        about = {"error_code": code, "error_description": description, "context": context}
        return {"message_type": "LEAGUE_ERROR", **about}

    def is_known(self, message: Json) -> bool:
        who = str(message.get("sender")).partition(":")[2]
        return who in self.tokens and message.get("auth_token") == self.tokens[who]

    async def take_report(self, message: Json) -> Json:
        if not self.is_known(message):
            return self.fail("E012", "AUTH_TOKEN_INVALID")
        match_id, result = message["match_id"], message["result"]
        found = re.fullmatch(r"R(\d+)M(\d+)", match_id)
        if found is None:
            raise ValueError(f"bad match id {match_id}")
        self.table.add(match_id, result["winner"], [*result["score"]])
        number = int(found[1])
        prefix = f"R{number}M"
        reported = [name for name in self.table.results if name.startswith(prefix)]
        if len(reported) == len(self._rounds[number - 1]):
            await self.end_round(number)
        if len(self.table.results) == sum(map(len, self._rounds)) and not self._is_ending:
            self._is_ending = True
            await self.end_league()
        return {"status": "OK"}

    async def show_table(self, arguments: Json) -> Json:
        return {"standings": self.table.list_rows(self.names)}

    async def answer_query(self, message: Json) -> Json:
        if not self.is_known(message):
            return self.fail("E012", "AUTH_TOKEN_INVALID")
        data = {"standings": self.table.list_rows(self.names)}
        about = {"query_type": message.get("query_type"), "success": True, "data": data}
        return {"message_type": "LEAGUE_QUERY_RESPONSE", **about}

    async def tell(self, tool: str, kind: str, to: dict[str, str], **fields: Json) -> None:
        """Tell each in turn; what they make of it is only logged."""
        notice = self.write(kind, "league_manager", f"conv-{uuid.uuid4().hex[:8]}", **fields)
        for url in to.values():
            try:
                await self.call_tool(url, tool, notice)
            except (CallFailedError, OSError, TimeoutError) as error:
                self.faults.append(error)

    async def play(self) -> None:
        """Order every match of every round; the next round does not wait for results."""
        self._rounds = kit.circle([*self.players])
        referees, count = [*self.referees.values()], 0
        for number, pairs in enumerate(self._rounds, 1):
            matches = [(f"R{number}M{count + m}", *pair) for m, pair in enumerate(pairs, 1)]
            announced = [
                {
                    "match_id": match_id,
                    "game_type": "even_odd",
                    "player_A_id": first,
                    "player_B_id": second,
                    "referee_endpoint": referees[(count + m) % len(referees)],
                }
                for m, (match_id, first, second) in enumerate(matches)
            ]
            about = {"league_id": LEAGUE, "round_id": number, "matches": announced}
            await self.tell("notify_round", "ROUND_ANNOUNCEMENT", self.players, **about)
            for match in announced:
                order = self.order(number, match)
                await self.call_tool(match["referee_endpoint"], "start_match", order)
            count += len(matches)

    def order(self, number: int, match: Json) -> Json:
        first, second = match["player_A_id"], match["player_B_id"]
        return {
            "match_id": match["match_id"],
            "round_id": number,
            "player_A_id": first,
            "player_B_id": second,
            "player_A_endpoint": self.players[first],
            "player_B_endpoint": self.players[second],
            "league_id": LEAGUE,
            "league_manager_endpoint": self.endpoint,
        }

    async def end_round(self, number: int) -> None:
        fields = ("player_id", "played", "wins", "draws", "losses", "points", "rank")
        rows = kit.pick(self.table.list_rows(self.names), *fields)
        about = {"league_id": LEAGUE, "round_id": number}
        update = "LEAGUE_STANDINGS_UPDATE"
        await self.tell("notify_standings", update, self.players, **about, standings=rows)
        matches = len(self._rounds[number - 1])
        about |= {"matches_completed": matches}
        about["next_round_id"] = number + 1 if number < len(self._rounds) else None
        summary = {"total_matches": matches, "wins": matches, "draws": 0, "technical_losses": 0}
        about["summary"] = summary
        await self.tell("notify_round_completed", "ROUND_COMPLETED", self.players, **about)

    async def end_league(self) -> None:
        rows = self.table.list_rows(self.names)
        about: Json = {"league_id": LEAGUE, "total_rounds": len(self._rounds)}
        about |= {"total_matches": len(self.table.results)}
        about["champion"] = kit.pick(rows, "player_id", "display_name", "points")[0]
        about["final_standings"] = kit.pick(rows, "rank", "player_id", "points")
        everybody = {**self.players, **self.referees}
        await self.tell("notify_league_completed", "LEAGUE_COMPLETED", everybody, **about)
        self.over.set()
