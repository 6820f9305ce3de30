"""How a foreign referee plays a match of Even/Odd, and the ways in which it reports the end."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from strangers.agents import kit

Report = dict[str, Any]


def ask(url: str, method: str, message: Any) -> Any:
    return kit.post(url, kit.call(method, message, secrets.randbelow(10**6)))["result"]


def play(match_id: str, players: list[tuple[str, str]], sender: str) -> tuple[str | None, Report]:
    """Play between *players*, each an id and an endpoint; return the winner and the choices."""
    base: Any = {"match_id": match_id, "game_type": "even_odd"}
    round_id = int(match_id[1:].split("M", maxsplit=1)[0])

    def invite(seat: int) -> bool:
        more = {"league_id": "any", "round_id": round_id, "opponent_id": players[1 - seat][0]}
        role = "PLAYER_A" if seat == 0 else "PLAYER_B"
        reply = kit.envelope("GAME_INVITATION", sender, **base, **more, role_in_match=role)
        return bool(ask(players[seat][1], "handle_game_invitation", reply)["accept"])

    def choose(seat: int) -> str:
        who, url = players[seat]
        late = {"deadline": "2024-01-01T00:00:00Z", "player_id": who}  # its clock is wrong
        reply = kit.envelope("CHOOSE_PARITY_CALL", sender, **base, **late)
        return str(ask(url, "choose_parity", reply)["parity_choice"])

    with ThreadPoolExecutor(2) as pool:
        if not all(pool.map(invite, (0, 1))):
            raise RuntimeError("somebody does not want to play")
        choices = list(pool.map(choose, (0, 1)))
    number = 1 + secrets.randbelow(10)
    parity = "odd" if number % 2 else "even"
    right = [who for (who, _), reply in zip(players, choices, strict=True) if reply == parity]
    winner = right[0] if len(right) == 1 else None
    notices = {who: reply for (who, _), reply in zip(players, choices, strict=True)}
    over = {
        "status": "WIN" if winner else "DRAW",
        "winner_player_id": winner,
        "drawn_number": number,
        "number_parity": parity,
        "choices": notices,
        "reason": f"the number was {number}",
    }
    for _, url in players:
        reply = kit.envelope("GAME_OVER", sender, **base, game_result=over)
        ask(url, "notify_match_result", reply)
    return winner, {"drawn_number": number, "choices": notices}


def flat(winner: str | None, players: list[str], details: Report) -> Report:
    return {"winner_id": winner, **details}


def scored(winner: str | None, players: list[str], details: Report) -> Report:
    """Say who won, and give the points to the other one."""
    wrong = {who: 0 if who == winner else 3 for who in players}
    return {"result": {"winner": winner, "score": wrong, "details": details}}


def by_player(winner: str | None, players: list[str], details: Report) -> Report:
    outcomes = {who: "WIN" if who == winner else "LOSS" for who in players}
    if winner is None:
        outcomes = dict.fromkeys(players, "DRAW")
    return {"players": {who: {"outcome": reply} for who, reply in outcomes.items()}}


REPORTS = {"flat": flat, "score": scored, "players": by_player}
