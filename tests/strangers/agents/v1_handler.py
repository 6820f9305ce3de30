"""A player of league.v1 whose one method is called handle_message, and which plays by turns."""

from itertools import cycle
from typing import Any

from strangers.agents import kit, v1_kit

moves = cycle(["even", "odd"])


def frame(message: Any) -> Any:
    return kit.call("handle_message", message)


def serve(body: Any, player: v1_kit.Player) -> tuple[int, Any]:
    if body.get("method") != "handle_message":
        return kit.unknown(body)
    return 200, kit.result(body, player.answer(body["params"]))


v1_kit.play("Handler", lambda asked: next(moves), frame, lambda answer: answer["result"], serve)
