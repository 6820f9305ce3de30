"""A player that takes batches is invited, and asked for its first move, in one call."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agent_league.http.exchange import Answer
from agent_league.vocabulary import Json
from arena import URLS, Arena, Script, admits
from scripted import Call, Scripted, hosted, says, settled, stays_silent
from timewarp import now, run

JOIN, CHOOSE, MOVE, OVER = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_MOVE_CALL", "GAME_OVER"
ERROR = "GAME_ERROR"

Change = Callable[[list[Json]], Any]
"""Returns what is answered to a batch, from the list of right answers."""


class Batching:
    """A scripted player that also answers batches, in the way that *change* says."""

    def __init__(self, player: Scripted, change: Change = lambda answers: answers) -> None:
        self._player, self._change = player, change
        self.batches: list[list[str]] = []

    def __call__(self, body: bytes) -> Answer | Awaitable[Answer]:
        frames = json.loads(body)
        if not isinstance(frames, list):
            return self._player(body)
        self.batches.append([frame["params"]["message_type"] for frame in frames])
        return self._answer_all(frames)

    async def _answer_all(self, frames: list[Json]) -> Answer:
        answers = [await settled(self._player(json.dumps(frame).encode())) for frame in frames]
        right = [json.loads(answer.body) for answer in answers]
        return Answer(200, json.dumps(self._change(right)).encode())


class BatchArena(Arena):
    """A match whose players both take batches."""

    def __init__(
        self,
        first: Script | None = None,
        second: Script | None = None,
        change: Change = lambda answers: answers,
    ) -> None:
        super().__init__(first, second, {"REFEREE_REGISTER_REQUEST": admits(signed=True)})
        self.batching = [Batching(self.first, change), Batching(self.second)]
        for player, url in zip(self.batching, URLS.values(), strict=True):
            self.net.host(url, hosted(player))

    def contest(self, **changes: Any) -> float:
        """Play one match, and wait for late messages; return the seconds to the report."""
        players = [self.contestant(who, batched=True) for who in URLS]

        async def main() -> float:
            await self.play(**{"players": players, **changes})
            took = now()
            await asyncio.sleep(60)
            await self.referee.close()
            return took

        return run(main())


def test_both_messages_come_in_one_call() -> None:
    arena = BatchArena(second={CHOOSE: says(parity_choice="odd")})
    assert arena.contest() == 0
    assert [one.batches for one in arena.batching] == [[[JOIN, CHOOSE]]] * 2
    assert [player.kinds() for player in arena.players] == [[JOIN, CHOOSE, OVER]] * 2
    assert arena.result["termination"] == "completed"
    assert arena.result["details"]["choices"] == {"P01": "even", "P02": "odd"}


def test_a_player_that_does_not_take_batches_gets_none() -> None:
    arena = BatchArena()
    arena.contest(players=[arena.contestant("P01", batched=True), arena.contestant("P02")])
    assert [one.batches for one in arena.batching] == [[[JOIN, CHOOSE]], []]
    assert arena.second.kinds() == [JOIN, CHOOSE, OVER]
    assert arena.result["termination"] == "completed"


def test_only_who_moves_first_is_asked_with_the_invitation() -> None:
    arena = BatchArena()
    arena.contest(game_type="tic_tac_toe")
    assert [one.batches for one in arena.batching] == [[[JOIN, MOVE]], []]
    assert arena.first.kinds().count(MOVE) >= 3
    assert arena.result["termination"] == "completed"


def test_a_match_that_is_played_by_hand_begins_with_the_invitation_alone() -> None:
    arena = BatchArena()
    players = [arena.contestant(who, batched=True) for who in URLS]

    async def main() -> None:
        await arena.start(auto=False, players=players)
        await arena.first.has_heard(JOIN)
        await arena.referee.close()

    run(main())
    assert [one.batches for one in arena.batching] == [[], []]


def test_the_transcript_has_every_message_of_the_call() -> None:
    arena = BatchArena()
    arena.contest(transcript=True)
    entries = [entry for entry in arena.report["transcript"] if "player:P01" in entry.values()]
    kinds = [entry["message"].get("message_type") for entry in entries]
    assert kinds == [JOIN, CHOOSE, "GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE", OVER, None]
    assert "tkt_P01" not in json.dumps(entries)


@pytest.mark.parametrize(
    "change",
    [
        lambda answers: answers[0],
        lambda answers: answers[:1],
        lambda answers: answers[::-1],
        lambda answers: [answers[0], answers[0]],
        lambda answers: [*answers, answers[0]],
        lambda answers: "nonsense",
        lambda answers: {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no"}, "id": None},
        lambda answers: [answers[0], {**answers[1], "result": {"message_type": "GAME_ERROR"}}],
    ],
)
def test_whoever_answers_a_batch_wrongly_is_asked_one_by_one(change: Change) -> None:
    arena = BatchArena(change=change)
    assert arena.contest() == 0
    assert arena.first.kinds() == [JOIN, CHOOSE, JOIN, CHOOSE, OVER]
    assert arena.result["termination"] == "completed"
    assert arena.report.get("violations", []) == []


def test_an_illegal_move_in_a_batch_is_corrected_as_usual() -> None:
    def choose(call: Call) -> Answer:
        is_second = len(arena.first.calls(CHOOSE)) > 2
        return call.returns({**call.right(), "parity_choice": "odd" if is_second else "seven"})

    arena = BatchArena({CHOOSE: choose})
    arena.contest()
    assert arena.first.kinds() == [JOIN, CHOOSE, JOIN, CHOOSE, ERROR, CHOOSE, OVER]
    assert arena.result["details"]["choices"]["P01"] == "odd"


def test_who_declines_the_seat_loses_whatever_it_chose() -> None:
    arena = BatchArena({JOIN: says(accept=False)})
    arena.contest()
    assert arena.first.kinds() == [JOIN, CHOOSE, OVER]
    assert arena.result["details"]["choices"] == {"P01": None, "P02": None}
    assert arena.result["winner"] == "P02"


def test_a_silent_player_has_three_attempts_in_all() -> None:
    arena = BatchArena({JOIN: stays_silent})
    took = arena.contest()
    assert arena.first.kinds() == [JOIN, ERROR, JOIN, ERROR, JOIN, OVER]
    assert took == 5 + 2 + 5 + 4 + 5
    assert arena.result["winner"] == "P02"


def test_an_absent_player_has_three_attempts_in_all() -> None:
    arena = BatchArena()
    arena.net.unhost(URLS["P01"])
    assert arena.contest() == 2 + 4
    assert arena.result["winner"] == "P02"
