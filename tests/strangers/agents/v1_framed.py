"""A player of league.v1 that speaks JSON-RPC, with the message type as method."""

from typing import Any

from strangers.agents import kit, v1_kit


def frame(message: Any) -> Any:
    return kit.call(message["message_type"], message, number="reg-1")


def serve(body: Any, player: v1_kit.Player) -> tuple[int, Any]:
    if "method" not in body:
        return 200, kit.refused(body, -32600, "Invalid Request")
    if body["method"] != body["params"].get("message_type"):
        return kit.unknown(body)
    return 200, kit.result(body, player.answer(body["params"]))


v1_kit.play("Framed", lambda asked: "even", frame, lambda answer: answer["result"], serve)
