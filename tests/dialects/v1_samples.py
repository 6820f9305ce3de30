"""Every message of league.v1 as we write it, from the samples of league.v2."""

import json
from typing import Any

import msgspec
from msgspec.structs import replace

from agent_league.dialects.v1.inbound import V1Reader
from agent_league.dialects.v1.outbound import OutboundTranslator
from agent_league.protocol import Message
from agent_league.vocabulary import Json
from golden_files import GOLDEN
from protocol.samples import LEAGUE_ID, SAMPLES

NOW = "2025-01-15T10:30:00.000Z"
SEED: dict[str, Any] = json.loads((GOLDEN / "seed_examples_v1.json").read_text("utf-8"))
PLAN = {
    "total_rounds": 1,
    "total_players": 2,
    "game_type": "even_odd",
    "schedule": {1: [("R1M1", "P01", "P02")]},
}
TABLE = {
    "standings": [
        {"rank": 1, "player_id": "P01", "played": 3, "wins": 2, "losses": 1},
        {"rank": 1, "player_id": "P03", "played": 3, "wins": 2, "losses": 1},
        {"rank": 3, "player_id": "P02", "played": 2, "wins": 0, "losses": 2},
    ]
}
ASIDES = {"ROUND_ANNOUNCEMENT": PLAN, "ROUND_COMPLETED": TABLE, "LEAGUE_COMPLETED": TABLE}
SAID = (
    "LEAGUE_REGISTER_REQUEST",
    "ROUND_ANNOUNCEMENT",
    "GAME_INVITATION",
    "CHOOSE_PARITY_CALL",
    "GAME_OVER",
    "ROUND_COMPLETED",
    "LEAGUE_COMPLETED",
)
ANSWERS: dict[str, Message] = {
    "LEAGUE_REGISTER_REQUEST": replace(
        SAMPLES["LEAGUE_REGISTER_RESPONSE"],
        status="ACCEPTED",
        player_id="P01",
        reason=None,
        league_id=LEAGUE_ID,
    ),
    "GAME_INVITATION": SAMPLES["GAME_JOIN_ACK"],
    "PLAY_REQUEST": SAMPLES["CHOOSE_PARITY_RESPONSE"],
}


def translate(outbound: OutboundTranslator, reply: str, **changes: Any) -> list[Json]:
    """Return what *outbound* makes of the sample of *said*."""
    aside = ASIDES.get(reply)
    body = {**msgspec.to_builtins(SAMPLES[reply]), **changes}
    known = (lambda: aside) if aside else None
    put = outbound.translate(type(SAMPLES[reply]), body, 5.0, known)  # type: ignore[arg-type]
    return put or []


def answered(reply: str) -> Json:
    """Return our answer to the document's own example of *said*."""
    body = json.dumps(SEED[reply]).encode()
    received = V1Reader().translate(body, "P01", NOW)
    assert received is not None
    return received.encode_answer(msgspec.to_builtins(ANSWERS[reply]))


def written() -> dict[str, Json]:
    """Return one of each of the twelve messages."""
    outbound = OutboundTranslator("P01")
    made = [message for reply in SAID for message in translate(outbound, reply)]
    made += [answered(reply) for reply in ANSWERS]
    return {message["message_type"]: message for message in made}
