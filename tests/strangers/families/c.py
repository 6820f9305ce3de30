"""Family C: registration by REST, calls with four fields, and a match that is one long call.

No message type, no sender, no time, no id of the league: a match is a `game_id` of the referee's.
"""

import asyncio
import itertools
import uuid
from collections.abc import Callable
from typing import Any, ClassVar

from strangers.families import kit
from strangers.families.kit import Book, Ended, Json, Reply, Request

Method = Callable[[Json], Any]


class FamilyC(kit.Agent):
    health: ClassVar[Json] = {"ok": True}
    kind: ClassVar[Json] = {}
    """What its registration says beside name, version and endpoint."""

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.is_registered = False
        self.methods: dict[str, Method] = {"ping": self.pong}
        self.routes = {("POST", "/mcp"): self.take, ("GET", "/health"): self.show_health}

    async def show_health(self, request: Request) -> Reply:
        return Reply(200, self.health)

    async def pong(self, params: Json) -> Json:
        return {"status": "ok", "message": "pong"}

    def name(self) -> str:
        return self.own_id

    async def live(self) -> None:
        """Register again and again, with longer and longer pauses, until the league says yes."""
        base = self.book["LM01"].removesuffix("/mcp")
        about = {"display_name": self.name(), "version": "1.0.0", "endpoint": self.endpoint}
        for pause in itertools.chain((1.0, 2.0, 4.0, 8.0, 16.0), itertools.repeat(30.0)):
            try:
                status, _ = await self.post(f"{base}/register", {**about, **self.kind})
            except (OSError, TimeoutError):
                status = 0
            if 200 <= status < 300:
                self.is_registered = True
                return
            await asyncio.sleep(pause)

    async def take(self, request: Request) -> Reply:
        try:
            frame = request.document
        except ValueError:
            return self.fail(None, -32700, "Parse error")
        return self.find_problem(frame) or await self.run(frame)

    async def run(self, frame: Json) -> Reply:
        method, params = self.methods.get(frame["method"]), frame.get("params", {})
        if method is None:
            data = f"Method '{frame['method']}' is not supported"
            return self.fail(frame.get("id"), -32601, "Method not found", data)
        if not isinstance(params, dict):
            return self.fail(frame.get("id"), -32602, "Invalid params", "params must be an object")
        try:
            result = await method(params)
        except ValueError as error:
            data = f"ValueError: {error}"
            return self.fail(frame.get("id"), -32603, "Internal error", data)
        if "id" not in frame:
            return Reply(204)
        return Reply(200, {"jsonrpc": "2.0", "id": frame["id"], "result": result})

    def find_problem(self, frame: Json) -> Reply | None:
        """Return the refusal of what is no call."""
        if not isinstance(frame, dict) or frame.get("jsonrpc") != "2.0":
            return self.fail(None, -32600, "Invalid Request", "Missing 'jsonrpc' field")
        if not isinstance(frame.get("method"), str):
            return self.fail(None, -32600, "Invalid Request", "Missing 'method' field")
        return None

    def fail(self, number: Json, code: int, message: str, data: Json = None) -> Reply:
        error = {"code": code, "message": message} | ({"data": data} if data else {})
        return Reply(200, {"jsonrpc": "2.0", "id": number, "error": error})


def echo(params: Json, *names: str) -> Json:
    return {name: params[name] for name in names if name in params}


class Player(FamilyC):
    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.methods |= {
            "handle_game_invitation": self.join,
            "parity_choose": self.answer_call,
            "choose_parity": self.answer_call,
            "notify_match_result": self.note_result,
        }

    def name(self) -> str:
        return f"C{self.own_id[1:]}"

    async def join(self, params: Json) -> Json:
        about = echo(params, "game_id", "invitation_id")
        return {"type": "GAME_JOIN_ACK", "accepted": True, **about}

    async def answer_call(self, params: Json) -> Json:
        about = echo(params, "game_id")
        return {"type": "RESPONSE_PARITY_CHOOSE", "choice": self.choose(), **about}

    async def note_result(self, params: Json) -> Json:
        return {"ok": True}


class Referee(FamilyC):
    health: ClassVar[Json] = {"ok": True, "service": "referee", "version": "1.0.0"}
    kind: ClassVar[Json] = {"agent_type": "referee", "supported_game_types": ["even_odd"]}

    def __init__(self, own_id: str, book: Book) -> None:
        super().__init__(own_id, book)
        self.matches: list[Ended] = []
        self.methods |= {"run_match": self.run_match}

    def name(self) -> str:
        return "Referee"

    async def pong(self, params: Json) -> Json:
        return {"ok": True, "message": "pong"}

    def find_problem(self, frame: Json) -> Reply | None:
        if not isinstance(frame, dict) or frame.get("jsonrpc") != "2.0":
            number = frame.get("id") if isinstance(frame, dict) else None
            return self.fail(number, -32600, "Invalid jsonrpc version")
        return super().find_problem(frame)

    async def run_match(self, params: Json) -> Json:
        if "player1" not in params or "player2" not in params:
            raise ValueError("Missing player1 or player2 in params")
        return await self.referee(params["match_id"], [params["player1"], params["player2"]])

    async def referee(self, match_id: str, players: list[Json]) -> Json:
        """Play one call after the other; the answer to the order is the result."""
        game = f"game_{uuid.uuid4().hex[:8]}"
        names = [player["display_name"] for player in players]
        result = {"match_id": match_id, "game_id": game, "player1": names[0], "player2": names[1]}
        if not all([await self.invite(game, p["endpoint"], n) for n, p in enumerate(players, 1)]):
            return self.conclude(result, ["none", "none"], 0)
        choices = [await self.ask(game, player["endpoint"]) for player in players]
        if "none" in choices:
            return self.conclude(result, choices, 0)
        done = self.conclude(result, choices, self.rng.randint(1, 100))
        for seat, player in enumerate(players):
            await self.tell_result(player["endpoint"], done, names[1 - seat])
        return done

    async def invite(self, game: str, url: str, number: int) -> bool:
        about = {"game_id": game, "invitation_id": f"inv_{uuid.uuid4().hex[:8]}_{number}"}
        about["from_player"] = "LeagueManager"
        result = await self.call(url, 1, "handle_game_invitation", about)
        return result.get("type") == "GAME_JOIN_ACK" and bool(result.get("accepted"))

    async def ask(self, game: str, url: str) -> str:
        chosen = (await self.call(url, 2, "parity_choose", {"game_id": game})).get("choice")
        return chosen if chosen in {"even", "odd"} else "none"

    async def tell_result(self, url: str, done: Json, opponent: str) -> None:
        names = ("dice_roll", "dice_parity", "player1", "player2")
        details = echo(done, *names, "player1_choice", "player2_choice")
        details["your_opponent"] = opponent
        about = {"game_id": done["game_id"], "winner": done["winner"], "details": details}
        await self.call(url, 3, "notify_match_result", about)

    async def call(self, url: str, number: int, method: str, params: Json) -> Json:
        """Return the result of a call, {} if there is none; nothing is tried twice."""
        try:
            status, answer = await self.post(url, kit.call(method, params, number))
        except (OSError, TimeoutError):
            return {}
        if status >= 300 or not isinstance(answer, dict) or "error" in answer:
            return {}
        return answer.get("result") or {}

    def conclude(self, about: Json, choices: list[str], number: int) -> Json:
        pair = (about["player1"], about["player2"])
        chosen = dict(zip(pair, choices, strict=True))
        winner = kit.find_winner(chosen, number) if number else None
        outcome = "completed" if number else "cancelled"
        self.matches.append(Ended(about["match_id"], pair, chosen, outcome))
        return {
            **about,
            "player1_choice": choices[0],
            "player2_choice": choices[1],
            "dice_roll": number,
            "dice_parity": kit.find_parity(number) if number else "none",
            "winner": winner,
            "is_draw": winner is None,
        }


class Manager(FamilyC):
    def __init__(self, book: Book, rounds: int = 1, mode: str = "external") -> None:
        super().__init__("LM01", book)
        self.rounds, self.mode = rounds, mode
        self.agents: dict[str, Json] = {}
        self.referees: dict[str, str] = {}
        self.table = kit.Table()
        self.over = asyncio.Event()
        self.embedded = Referee("REF01", book)
        self.routes = {
            ("POST", "/register"): self.register,
            ("GET", "/agents"): self.show_agents,
            ("GET", "/health"): self.show_health,
            ("POST", "/start"): self.answer_start,
        }

    @property
    def players(self) -> dict[str, Json]:
        return self.agents

    async def live(self) -> None:
        """Wait to be told to start."""

    async def register(self, request: Request) -> Reply:
        about = request.document
        missing = [n for n in ("display_name", "version", "endpoint") if n not in about]
        if missing:
            return Reply(400, {"error": f"Missing required fields: {missing}"})
        name = about["display_name"]
        if about.get("agent_type") == "referee":
            self.referees[name] = about["endpoint"]
            text = f"Referee {name} registered successfully"
            return Reply(200, {"status": "registered", "agent_type": "referee", "message": text})
        self.agents[name] = echo(about, "display_name", "version", "endpoint")
        text = f"Welcome to the league, {name}!"
        answer = {"status": "registered", "agent_id": f"agent_{name}", "message": text}
        return Reply(200, answer)

    async def show_agents(self, request: Request) -> Reply:
        return Reply(200, {"agents": [*self.agents.values()]})

    async def answer_start(self, request: Request) -> Reply:
        if len(self.agents) < 2:
            return Reply(400, {"error": "Need at least 2 agents"})
        await self.begin()
        return Reply(200, {"status": "started"})

    async def begin(self) -> None:
        self.spawn(self.play())

    async def play(self) -> None:
        """Play one game after the other; an error is counted as a draw."""
        for _ in range(self.rounds):
            for pair in itertools.combinations(self.agents.values(), 2):
                if self.mode == "external" and not self.referees:
                    self.problems.append("No referee registered")
                    return
                match_id = f"match_{uuid.uuid4().hex[:8]}"
                result = await self.run_match(match_id, pair)
                names = [player["display_name"] for player in pair]
                self.table.add(match_id, result.get("winner"), names)
                if {result.get("player1_choice"), result.get("player2_choice")} - {"even", "odd"}:
                    self.problems.append(match_id)
                await asyncio.sleep(0.1)
        self.over.set()

    async def run_match(self, match_id: str, pair: tuple[Json, Json]) -> Json:
        params = {"match_id": match_id, "player1": pair[0], "player2": pair[1]}
        if self.mode == "embedded":
            return await self.embedded.run_match(params)
        body = kit.call("run_match", params, match_id)
        try:
            status, answer = await self.post(next(iter(self.referees.values())), body, 60.0)
        except (OSError, TimeoutError):
            status, answer = 500, {}
        result = answer.get("result") if status == 200 else None
        wrong = dict.fromkeys(("player1_choice", "player2_choice"), "error")
        return result if isinstance(result, dict) else {"match_id": match_id, **wrong}
