"""A model that knows nothing of the league but its tools and what they answer."""

from typing import Any


def choose_call(answers: list[dict[str, Any]]) -> tuple[str, dict[str, Any]] | None:
    """Return the next tool to call and its arguments, by what was answered so far; None at the end."""
    if not answers:
        return "join_league", {"display_name": "Model"}
    proof = {"auth_token": answers[0]["auth_token"]}
    latest = answers[-1].get("next", answers[-1])
    if latest["status"] == "LEAGUE_OVER":
        return None
    if latest["status"] == "YOUR_TURN":
        move = str(latest["legal_moves"][-1])
        return "make_move", {**proof, "turn_id": latest["turn_id"], "move": move}
    return "wait_for_turn", proof


def summarize(names: list[str]) -> dict[str, int]:
    """Return how many calls were made after joining, and how many of them were moves."""
    return {"calls": len(names) - 1, "moves": names.count("make_move")}
