"""What was said in a match reaches the league word for word, in messages that it takes."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agent_league.agent import BODY_LIMIT
from agent_league.protocol import name
from agent_league.protocol.failures import LateError
from agent_league.protocol.play import ResultReport, TranscriptPart
from agent_league.referee.transcript import MAX_PART_BYTES, Transcript, TranscriptWriter
from agent_league.store.log import StoredEvent
from agent_league.vocabulary import Json
from arena import Arena, contest
from league_box import Box, played, player_url
from scripted import Behaviour, Scripted, behaves, in_turn, says, takes
from timewarp import clock, run

JOIN, CHOOSE, OVER = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"
REPORT, PART = name(ResultReport), name(TranscriptPart)


# Parts


def transcript(*sizes: int) -> Transcript:
    """Return a transcript with entries of these sizes."""

    async def made() -> Transcript:
        reply = Transcript(clock)
        for number, size in enumerate(sizes):
            body = b"%d" % number
            bare = len(Transcript(clock).add(b'"from":""', b"message", body))
            reply.add(b'"from":"%b"' % (b"a" * (size - bare)), b"message", body)
        assert [len(entry) for entry in reply] == [*sizes]
        return reply

    return run(made())


def sizes(reply: Transcript) -> list[list[int]]:
    return [[len(bytes(entry)) for entry in part] for part in reply.parts()]


@pytest.mark.parametrize(
    ("entries", "parts"),
    [
        ((), [[]]),
        ((100,), [[100]]),
        ((4000, 4000), [[4000, 4000]]),
        ((4000, 4001), [[4000], [4001]]),
        ((MAX_PART_BYTES, 100, MAX_PART_BYTES), [[MAX_PART_BYTES], [100], [MAX_PART_BYTES]]),
        ((3000,) * 5, [[3000, 3000], [3000, 3000], [3000]]),
    ],
)
def test_entries_are_parted_so_that_each_part_has_room(
    entries: Sequence[int], parts: list[list[int]]
) -> None:
    assert sizes(transcript(*entries)) == parts


def test_the_parts_together_are_the_whole_in_its_order() -> None:
    reply = transcript(*[500 + 37 * number for number in range(60)])
    flat = [bytes(entry) for part in reply.parts() for entry in part]
    assert flat == list(reply)
    assert [json.loads(entry)["message"] for entry in flat] == list(range(60))


def test_entries_tell_who_said_what_to_whom_and_when() -> None:
    async def main() -> list[Json]:
        reply = Transcript(clock)
        witness = TranscriptWriter(reply, "referee:REF01", 'player:"P01"', "tck_1")
        witness.record_sent(b'{"message_type":"GAME_OVER"}')
        witness.record_received(b'{"status":"ok"}')
        witness.record_error(LateError("nothing within 5 s"))
        return [json.loads(entry) for entry in reply]

    at = "2025-01-15T10:00:00.000Z"
    there = {"from": "referee:REF01", "to": 'player:"P01"'}
    back = {"from": 'player:"P01"', "to": "referee:REF01"}
    sent, received, missed = run(main())
    assert sent == {"at": at, **there, "message": {"message_type": "GAME_OVER"}}
    assert received == {"at": at, **back, "message": {"status": "ok"}}
    assert missed == {"at": at, **back, "error": "E001 nothing within 5 s"}


# One match


def test_a_league_that_does_not_ask_for_it_is_not_told() -> None:
    arena, _ = contest()
    assert arena.report.get("transcript", []) == []
    assert not arena.league.messages(PART)


def read_transcript(arena: Arena) -> list[Json]:
    """Return what the league was told of the match, from all the messages it came in."""
    parts = sorted(arena.league.messages(PART), key=lambda part: int(part["part"]))
    before = [entry for part in parts for entry in part["entries"]]
    return [*before, *arena.report["transcript"]]


def hidden(message: Json) -> Json:
    """Return *message* as a transcript shows it: with everything but its secret."""
    return {**message, "auth_token": "***"}


def test_a_match_is_told_from_the_invitations_to_the_results() -> None:
    arena, _ = contest(transcript=True)
    entries = read_transcript(arena)
    assert not arena.league.messages(PART)
    reply = [entry["message"].get("message_type", "ok") for entry in entries]
    assert reply[:2] == [JOIN, JOIN]
    assert (
        reply.index("GAME_JOIN_ACK") < reply.index(CHOOSE) < reply.index("CHOOSE_PARITY_RESPONSE")
    )
    assert reply.index("CHOOSE_PARITY_RESPONSE") < reply.index(OVER)
    assert len(reply) == 12
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)
    sent = [entry["message"] for entry in entries if entry["to"] == "player:P01"]
    assert sent == [hidden(arena.first.messages(kind)[0]) for kind in (JOIN, CHOOSE, OVER)]


def test_silence_and_correction_are_told_as_well() -> None:
    wrong = says(parity_choice="seven")
    late = in_turn(takes(60), behaves)
    arena, _ = contest({CHOOSE: in_turn(wrong, behaves)}, {JOIN: late}, transcript=True)
    entries = read_transcript(arena)
    assert any("E001" in entry.get("error", "") for entry in entries)
    reply = [entry["message"] for entry in entries if "message" in entry]
    assert [one["parity_choice"] for one in reply if "parity_choice" in one].count("seven") == 1
    assert {"GAME_ERROR"} <= {one.get("message_type") for one in reply}


def talkative(size: int) -> Behaviour:
    """Answer rightly, with *size* characters more than anybody needs."""
    return lambda call: call.returns({**call.right(), "chatter": "x" * size})


@pytest.mark.parametrize("size", [1_000, 5_000, 7_500])
def test_however_much_players_say_every_report_is_short_enough(size: int) -> None:
    much = dict.fromkeys((JOIN, CHOOSE, OVER), talkative(size))
    arena, _ = contest(much, much, transcript=True)
    frames = [received for received in arena.league.received if received.kind in {REPORT, PART}]
    assert all(len(json.dumps(received.message)) < BODY_LIMIT for received in frames)
    assert len(read_transcript(arena)) == 12
    assert (
        sum(entry["message"].get("chatter") == "x" * size for entry in read_transcript(arena)) == 6
    )


@pytest.mark.parametrize("size", [7_600, 9_800, 100_000])
def test_what_is_too_long_to_be_reported_is_cut_and_says_so(size: int) -> None:
    arena, _ = contest({CHOOSE: talkative(size)}, transcript=True)
    frames = [received for received in arena.league.received if received.kind in {REPORT, PART}]
    assert all(len(json.dumps(received.message)) < BODY_LIMIT for received in frames)
    entries = read_transcript(arena)
    assert len(entries) == 12
    (long,) = [entry for entry in entries if "cut" in entry]
    assert (long["from"], long["to"]) == ("player:P01", "referee:REF01")
    assert "CHOOSE_PARITY_RESPONSE" in long["cut"]
    assert long["cut"].endswith(" bytes)")


# A league


class Keeping:
    """A sink that remembers what was said in each match."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    async def keep(self, *kept: StoredEvent, may_wait: bool = False) -> None:
        for stored in kept:
            if stored.transcript:
                self.said[getattr(stored.event, "match_id", "")] = stored.transcript

    async def flush(self) -> None:
        """There is nothing to wait for."""


def kept(box: Box) -> dict[str, list[Any]]:
    """Play *box*, and return what was said in each match."""
    sink = Keeping()
    box.events.attach(sink)
    played(box)
    return {match_id: json.loads(said) for match_id, said in sink.said.items()}


def test_a_long_game_arrives_whole_in_parts_that_the_league_takes() -> None:
    box = Box(["random", "random"], game_type="tic_tac_toe")
    entries = kept(box)["R1M1"]
    parts = box.sent(TranscriptPart)
    assert parts
    assert all(len(e.sent) < BODY_LIMIT for e in box.sent(TranscriptPart, ResultReport))
    assert all(e.answer and e.answer.status == 200 for e in parts)
    (report,) = box.sent(ResultReport)
    count = sum(len(part.message["entries"]) for part in parts)
    assert len(entries) == count + len(report.message["transcript"])
    reply = [entry["message"].get("message_type", "ok") for entry in entries]
    moves = reply.count("GAME_MOVE_CALL")
    assert moves >= 5
    assert reply.count("GAME_MOVE_RESPONSE") == moves
    assert (reply.count(JOIN), reply.count(OVER), reply.count("ok")) == (2, 2, 2)
    assert reply[:2] == [JOIN, JOIN]
    assert reply[-2:] == ["ok", "ok"]
    matches = [e for e in box.exchanges if e.url in {player_url(1), player_url(2)}]
    sent = [hidden(e.message) for e in matches if "match_id" in e.message]
    assert [entry["message"] for entry in entries if entry["to"].startswith("player")] == sent


def test_every_match_of_a_league_has_a_transcript_of_its_own() -> None:
    reply = kept(Box(["random"] * 4, referees=2))
    assert sorted(reply) == ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"]
    for match_id, entries in reply.items():
        named = {entry["message"].get("match_id", match_id) for entry in entries}
        assert named == {match_id}


def test_a_player_cannot_keep_its_defeat_from_being_reported_by_talking_too_much() -> None:
    box = Box(["random"], guests=1)
    box.guest(Scripted("P02", dict.fromkeys((JOIN, CHOOSE, OVER), talkative(20_000))))
    assert sorted(kept(box)) == ["R1M1"]
    assert list(box.season.results) == ["R1M1"]
    assert all(len(e.sent) < BODY_LIMIT for e in box.sent(TranscriptPart, ResultReport))
    assert {e.answer.status for e in box.sent(ResultReport) if e.answer} == {200}
