"""A player of league.v1 that knows no frames: a message comes, a message goes."""

from typing import Any

from strangers.agents import v1_kit


def serve(body: Any, player: v1_kit.Player) -> tuple[int, Any]:
    if "message_type" not in body:
        return 422, {"detail": "message_type: field required"}
    return 200, player.answer(body)


v1_kit.play("Bare", lambda asked: "odd", lambda message: message, lambda answer: answer, serve)
