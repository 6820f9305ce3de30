import asyncio
import json
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.dialects.v2.session import V2Session
from agent_league.http.exchange import Answer
from agent_league.peers.line import Line
from agent_league.peers.retry import call_with_retry, compute_delay
from agent_league.protocol import ErrorCode, Patience, Request
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.failures import (
    Failure,
    LateError,
    NoAnswerError,
    NonsenseError,
    RefusedError,
    UnreachableError,
)
from agent_league.protocol.play import Invitation, JoinAck, ParityCall, ParityReply, Retry
from agent_league.vocabulary import Json
from protocol.samples import SAMPLES
from scripted import Call, Scripted, behaves, does_not_know, garbles, refuses, says, settled, takes
from timewarp import now, run
from wiring import Wiring

T = TypeVar("T")
URL = "http://p01/mcp"
METHOD_NOT_FOUND = -32601


def request(reply: str) -> Request[Any]:
    found = SAMPLES[reply]
    assert isinstance(found, Request)
    return found


def notice(reply: str) -> Any:
    return SAMPLES[reply]


INVITATION = request("GAME_INVITATION")
PARITY_CALL = request("CHOOSE_PARITY_CALL")


class Peer(Scripted):
    """A scripted player, and the line to it."""

    def __init__(self, **on: Callable[[Call], Answer | Awaitable[Answer]]) -> None:
        super().__init__("P01", on)

    @property
    def spelled(self) -> list[str | None]:
        return [call.method for call in self.received]

    def run(self, wire: Wiring, main: Callable[[Line], Awaitable[T]]) -> T:
        """Return what *main* returns, called with a line to this peer."""
        return wire.run(self, lambda url, to: main(Line(V2Session(url, to.post), Patience())))

    def ask(self, wire: Wiring, asked: Request[Any] = INVITATION) -> Any:
        return self.run(wire, lambda line: line.ask(asked))


def test_a_right_answer_comes_back_as_the_reply_that_was_asked_for(wire: Wiring) -> None:
    assert isinstance(Peer().ask(wire, INVITATION), JoinAck)
    reply = Peer().ask(wire, PARITY_CALL)
    assert isinstance(reply, ParityReply)
    assert reply.move == "even"


def test_the_same_question_may_be_open_twice(wire: Wiring) -> None:
    """A match that is ordered twice at once: each order has its answer, and no exception."""
    peer = Peer(GAME_INVITATION=takes(0.1))

    async def main(line: Line) -> list[Any]:
        asked = [line.ask(INVITATION, ledger=Ledger("P01")) for _ in range(3)]
        return await asyncio.gather(*asked)

    assert [type(reply) for reply in peer.run(wire, main)] == [JoinAck] * 3


def test_a_posted_reply_answers_every_open_request_for_it(wire: Wiring) -> None:
    peer = Peer(GAME_INVITATION=lambda call: call.returns({"status": "pending"}))
    posted = SAMPLES["GAME_JOIN_ACK"]

    async def main(line: Line) -> list[Any]:
        asked = [line.ask(INVITATION, ledger=Ledger("P01")) for _ in range(2)]
        replies = asyncio.gather(*asked)
        await peer.has_heard("GAME_INVITATION", 2)
        assert line.take_posted_reply(posted)
        assert not line.take_posted_reply(posted)
        return await replies

    assert [type(reply) for reply in peer.run(wire, main)] == [JoinAck] * 2


def test_a_call_is_a_json_rpc_request_under_the_name_of_its_tool(wire: Wiring) -> None:
    peer = Peer()
    peer.ask(wire, INVITATION)
    (call,) = peer.received
    assert call.method == "handle_game_invitation"
    assert call.message == msgspec.to_builtins(INVITATION)
    assert call.id is not None


def test_no_two_calls_have_the_same_id(wire: Wiring) -> None:
    async def main(line: Line) -> None:
        await asyncio.gather(*(line.ask(INVITATION) for _ in range(10)))

    peer = Peer()
    peer.run(wire, main)
    ids = [call.id for call in peer.received]
    assert len(set(ids)) == 10


@pytest.mark.parametrize(
    ("reply", "wait"),
    [
        ("REFEREE_REGISTER_REQUEST", 1),
        ("LEAGUE_REGISTER_REQUEST", 2),
        ("GAME_INVITATION", 3),
        ("CHOOSE_PARITY_CALL", 4),
        ("GAME_MOVE_CALL", 4),
        ("GAME_OVER", 5),
        ("MATCH_RESULT_REPORT", 6),
        ("LEAGUE_QUERY", 7),
        ("ROUND_ANNOUNCEMENT", 7),
        ("GAME_ERROR", 7),
        ("START_MATCH", 7),
    ],
)
def test_each_kind_of_message_has_its_own_patience(reply: str, wait: float) -> None:
    patience = Patience(
        register_referee=1, register_player=2, join=3, move=4, game_over=5, report=6, generic=7
    )
    waits: list[float] = []

    async def post(url: str, body: bytes, within: float) -> Answer:
        waits.append(within)
        return await settled(Scripted("P01")(body))

    line = Line(V2Session(URL, post), patience)
    run(line.tell(notice(reply)))
    run(line.tell(notice(reply), within=0.5))
    assert waits == [wait, 0.5]


def test_the_patience_of_the_contract_is_the_default() -> None:
    patience = Patience()
    assert (patience.register_player, patience.join, patience.move) == (10, 5, 30)
    assert (patience.game_over, patience.report, patience.generic) == (5, 10, 10)


def answers(body: Json) -> Callable[[Call], Answer]:
    return lambda call: Answer(200, json.dumps(body(call) if callable(body) else body).encode())


NONSENSE: list[tuple[str, Callable[[Call], Answer | Awaitable[Answer]], ErrorCode]] = [
    ("another match", says(match_id="R9M9"), ErrorCode.MATCH_ID_MISMATCH),
    (
        "another kind",
        lambda call: call.returns(msgspec.to_builtins(SAMPLES["CHOOSE_PARITY_RESPONSE"])),
        ErrorCode.UNKNOWN_MESSAGE_TYPE,
    ),
    ("unknown kind", says(message_type="GAME_JOIN_NACK"), ErrorCode.UNKNOWN_MESSAGE_TYPE),
    ("kind in small letters", says(message_type="game_join_ack"), ErrorCode.INVALID_FIELD_VALUE),
    ("no kind", says(message_type=None), ErrorCode.MISSING_REQUIRED_FIELD),
    ("missing field", says(accept=None), ErrorCode.MISSING_REQUIRED_FIELD),
    ("wrong type", says(accept="yes"), ErrorCode.INVALID_FIELD_VALUE),
    ("bad time", says(arrival_timestamp="now"), ErrorCode.INVALID_TIMESTAMP),
    ("old protocol", says(protocol="league.v0"), ErrorCode.PROTOCOL_VERSION_MISMATCH),
    ("HTML", garbles, ErrorCode.INVALID_FIELD_VALUE),
    ("nothing", lambda call: Answer(200, b""), ErrorCode.INVALID_FIELD_VALUE),
    ("an array", answers([]), ErrorCode.INVALID_FIELD_VALUE),
    ("a number as result", lambda call: call.returns(7), ErrorCode.INVALID_FIELD_VALUE),
    ("null as result", lambda call: call.returns(None), ErrorCode.INVALID_FIELD_VALUE),
    ("no result", answers(lambda call: {"id": call.id}), ErrorCode.INVALID_FIELD_VALUE),
    (
        "another id",
        lambda call: Call(**{**vars(call), "id": 999}).returns(call.right()),
        ErrorCode.INVALID_FIELD_VALUE,
    ),
    (
        "the id as text",
        lambda call: Call(**{**vars(call), "id": str(call.id)}).returns(call.right()),
        ErrorCode.INVALID_FIELD_VALUE,
    ),
    (
        "no id",
        answers(lambda call: {"jsonrpc": "2.0", "result": call.right()}),
        ErrorCode.INVALID_FIELD_VALUE,
    ),
]


@pytest.mark.parametrize(
    ("behaviour", "code"), [case[1:] for case in NONSENSE], ids=[case[0] for case in NONSENSE]
)
def test_an_answer_that_is_not_one_is_nonsense(
    wire: Wiring, behaviour: Callable[[Call], Answer], code: ErrorCode
) -> None:
    peer = Peer(GAME_INVITATION=behaviour)
    with pytest.raises(NonsenseError) as caught:
        peer.ask(wire)
    assert caught.value.code is code
    assert not caught.value.retryable
    assert len(peer.received) == 1


def test_a_choice_that_is_neither_even_nor_odd_has_its_own_code(wire: Wiring) -> None:
    with pytest.raises(NonsenseError) as caught:
        Peer(CHOOSE_PARITY_CALL=says(parity_choice="Even")).ask(wire, PARITY_CALL)
    assert caught.value.code is ErrorCode.INVALID_PARITY_CHOICE
    assert caught.value.context["expected"] == '"even" or "odd"'


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"message_type": "LEAGUE_ERROR", "error_code": "E012"}, ErrorCode.AUTH_TOKEN_INVALID),
        ({"error_code": "E001", "error_name": "TIMEOUT_ERROR"}, ErrorCode.TIMEOUT_ERROR),
        ({"error_code": "E012"}, ErrorCode.AUTH_TOKEN_INVALID),
        ({"error_code": "E001"}, ErrorCode.NOT_ALLOWED),
        ({"error_code": "E004", "error_description": "Unknown sender"}, ErrorCode.NOT_ALLOWED),
        ({"error_code": "E999"}, ErrorCode.NOT_ALLOWED),
        ({"error_code": ["E001"]}, ErrorCode.NOT_ALLOWED),
        ("no", ErrorCode.NOT_ALLOWED),
        (None, ErrorCode.NOT_ALLOWED),
    ],
)
def test_an_error_reply_is_a_refusal_with_the_peers_own_code(
    wire: Wiring, data: Json, code: ErrorCode
) -> None:
    with pytest.raises(RefusedError) as caught:
        Peer(GAME_INVITATION=refuses(-32012, data)).ask(wire)
    assert caught.value.code is code
    assert (caught.value.rpc_code, caught.value.data) == (-32012, data)
    assert not caught.value.retryable


def test_an_error_reply_counts_even_if_the_peer_could_not_tell_which_call_it_was(
    wire: Wiring,
) -> None:
    peer = Peer(GAME_INVITATION=lambda call: Call(**{**vars(call), "id": None}).refuses(-32700))
    with pytest.raises(RefusedError):
        peer.ask(wire)


# How a call is spelled


class Picky(Peer):
    """Knows calls only as *spelling* puts them: by "tool", by "type", or "bare"."""

    def __init__(self, spelling: str, lacks: str = "") -> None:
        super().__init__()
        self._spelling, self._lacks = spelling, lacks

    def __call__(self, body: bytes) -> Answer | Awaitable[Answer]:
        answer = super().__call__(body)
        call = self.received[-1]
        bare = call.method is None
        by_type = not bare and str(call.method).isupper()
        spelled = "bare" if bare else "type" if by_type else "tool"
        if spelled == self._spelling and call.kind != self._lacks:
            return answer
        if bare:  # a server of plain JSON-RPC, and right to say so
            return call.refuses(-32600, "method: a required member is missing")
        return call.refuses(METHOD_NOT_FOUND, "method not found")


@pytest.mark.parametrize(
    ("spelling", "tried"),
    [
        ("tool", ["handle_game_invitation", "handle_game_invitation"]),
        ("type", ["handle_game_invitation", "GAME_INVITATION", "GAME_INVITATION"]),
        ("bare", ["handle_game_invitation", "GAME_INVITATION", None, None]),
    ],
)
def test_what_a_peer_understands_is_found_out_and_remembered(
    wire: Wiring, spelling: str, tried: list[str | None]
) -> None:
    async def main(line: Line) -> None:
        assert isinstance(await line.ask(INVITATION), JoinAck)
        assert isinstance(await line.ask(INVITATION), JoinAck)

    peer = Picky(spelling)
    peer.run(wire, main)
    assert peer.spelled == tried


def test_a_peer_that_understands_no_spelling_refuses(wire: Wiring) -> None:
    peer = Peer(GAME_INVITATION=does_not_know)
    with pytest.raises(NoAnswerError) as caught:
        peer.ask(wire)
    assert not caught.value.retryable
    assert peer.spelled == ["handle_game_invitation", "GAME_INVITATION", None]


def test_a_notice_that_no_spelling_delivers_is_not_taken_for_delivered(wire: Wiring) -> None:
    # In the bare spelling, too, an error reply is no result.
    with pytest.raises(NoAnswerError):
        Peer(GAME_ERROR=does_not_know).run(wire, lambda line: line.tell(notice("GAME_ERROR")))


@pytest.mark.parametrize("spelling", ["tool", "type"])
def test_a_peer_that_lacks_one_tool_is_still_called_as_it_likes_to_be(
    wire: Wiring, spelling: str
) -> None:
    # A player with only the three tools of a match lacks notify_game_error.
    async def main(line: Line) -> Any:
        await line.ask(INVITATION)
        with pytest.raises(NoAnswerError):
            await line.tell(notice("GAME_ERROR"))
        return await line.ask(PARITY_CALL)

    peer = Picky(spelling, lacks="GAME_ERROR")
    assert isinstance(peer.run(wire, main), ParityReply)


def test_two_calls_at_once_find_the_same_spelling(wire: Wiring) -> None:
    # Two refusals at once must not skip the spelling that would do.
    async def main(line: Line) -> tuple[Any, Any]:
        return await asyncio.gather(line.ask(INVITATION), line.ask(PARITY_CALL))

    first, second = Picky("type").run(wire, main)
    assert isinstance(first, JoinAck)
    assert isinstance(second, ParityReply)


@pytest.mark.parametrize("reply", ["CHOOSE_PARITY_CALL", "GAME_OVER"])
def test_a_bare_complaint_is_a_refusal_with_its_code(wire: Wiring, reply: str) -> None:
    # Spec, "Replies": a bare caller gets the LEAGUE_ERROR itself, not a reply of the wrong kind
    # and not, in the case of a notice, an acknowledgement.
    complaint = msgspec.to_builtins(SAMPLES["LEAGUE_ERROR"])

    def only_bare(call: Call) -> Answer:
        if call.method is not None:
            return does_not_know(call)
        return behaves(call) if call.kind == "GAME_INVITATION" else call.returns(complaint)

    async def main(line: Line) -> RefusedError:
        await line.ask(INVITATION)
        with pytest.raises(RefusedError) as caught:
            await line.tell(notice(reply))
        return caught.value

    peer = Peer(GAME_INVITATION=only_bare, CHOOSE_PARITY_CALL=only_bare, GAME_OVER=only_bare)
    assert peer.run(wire, main).code is ErrorCode.AUTH_TOKEN_INVALID


# Peers that do not answer


class Flaky:
    """A wire that fails as told, and otherwise answers rightly."""

    def __init__(self, error: type[NoAnswerError] = UnreachableError) -> None:
        self.down = True
        self.posted = 0
        self._error = error

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        self.posted += 1
        await asyncio.sleep(0)
        if self.down:
            raise self._error("down")
        return await settled(Scripted("P01")(body))


async def fails(line: Line, times: int, error: type[NoAnswerError] = NoAnswerError) -> None:
    for _ in range(times):
        with pytest.raises(error):
            await line.ask(INVITATION)


@pytest.mark.parametrize("error", [UnreachableError, LateError])
def test_a_peer_that_failed_often_is_tried_all_the_same(error: type[NoAnswerError]) -> None:
    async def main() -> None:
        wire = Flaky(error)
        line = Line(V2Session(URL, wire.post), Patience())
        await fails(line, 20, error)
        assert (wire.posted, line.failures) == (20, 20)
        wire.down = False
        await line.ask(INVITATION)
        assert line.failures == 0

    run(main())


@pytest.mark.parametrize("behaviour", [garbles, refuses(-32000), says(match_id="R9M9")])
def test_a_wrong_answer_is_no_missing_answer(
    wire: Wiring, behaviour: Callable[[Call], Answer]
) -> None:
    async def main(line: Line) -> None:
        await fails(line, 10)
        assert line.failures == 0

    Peer(GAME_INVITATION=behaviour).run(wire, main)


# Trying again

ERRORS: list[tuple[NoAnswerError, bool, Failure]] = [
    (LateError("late"), True, Failure.TIMEOUT),
    (UnreachableError("gone"), True, Failure.TRANSIENT),
    (NonsenseError("what?"), False, Failure.PERMANENT),
    (RefusedError(-32000, "no"), False, Failure.PERMANENT),
]


@pytest.mark.parametrize(("error", "again", "failure"), ERRORS, ids=str)
def test_failures_are_sorted_into_those_that_pass_and_those_that_do_not(
    error: NoAnswerError,
    again: bool,
    failure: Failure,
) -> None:
    assert error.retryable is again
    assert error.failure is failure


class Attempts:
    """A call that fails with the given errors, one after the other, and then succeeds."""

    def __init__(self, *errors: NoAnswerError) -> None:
        self._errors = list(errors)
        self.times: list[float] = []
        self.told: list[tuple[int, str, float]] = []

    async def call(self) -> str:
        self.times.append(now())
        if self._errors:
            raise self._errors.pop(0)
        return "answer"

    def between(self, attempt: int, error: NoAnswerError, wait: float) -> None:
        self.told.append((attempt, str(error), wait))

    def made(self, retry: Retry) -> str:
        return run(call_with_retry(self.call, retry, self.between))


def test_a_call_that_succeeds_is_made_once() -> None:
    attempts = Attempts()
    assert attempts.made(Retry()) == "answer"
    assert attempts.times == [0]
    assert attempts.told == []


def test_the_waits_are_two_seconds_and_then_four() -> None:
    attempts = Attempts(LateError("one"), UnreachableError("two"))
    assert attempts.made(Retry()) == "answer"
    assert attempts.times == [0, 2, 6]
    assert attempts.told == [(1, "one", 2), (2, "two", 4)]


def test_the_third_failure_is_the_last() -> None:
    attempts = Attempts(LateError("one"), LateError("two"), UnreachableError("three"))
    with pytest.raises(UnreachableError, match="three"):
        attempts.made(Retry())
    assert attempts.times == [0, 2, 6]


@pytest.mark.parametrize(
    ("retry", "times"),
    [
        (Retry(attempts=1), [0]),
        (Retry(attempts=2), [0, 2]),
        (Retry(attempts=5), [0, 2, 6, 14, 30]),
        (Retry(attempts=4, base_delay=0.5), [0, 0.5, 1.5, 3.5]),
        (Retry(attempts=4, backoff="fixed"), [0, 2, 4, 6]),
        (Retry(attempts=3, base_delay=0), [0, 0, 0]),
    ],
)
def test_how_often_and_how_fast_can_be_set(retry: Retry, times: list[float]) -> None:
    attempts = Attempts(*(LateError("late") for _ in range(9)))
    with pytest.raises(LateError):
        attempts.made(retry)
    assert attempts.times == times


@pytest.mark.parametrize("error", [NonsenseError("what?"), RefusedError(-1, "no")])
def test_a_failure_that_will_not_pass_is_not_tried_again(error: NoAnswerError) -> None:
    attempts = Attempts(error)
    with pytest.raises(type(error)):
        attempts.made(Retry())
    assert attempts.times == [0]


@given(
    st.integers(1, 8),
    st.floats(0.01, 10),
    st.sampled_from(["exponential", "fixed"]),
    st.integers(),
)
def test_jitter_shortens_a_wait_and_never_lengthens_it(
    attempt: int, base: float, backoff: Any, seed: int
) -> None:
    plain = Retry(base_delay=base, backoff=backoff)
    jittered = Retry(base_delay=base, backoff=backoff, jitter=True)
    longest = compute_delay(plain, attempt)
    assert 0 <= compute_delay(jittered, attempt, Random(seed)) <= longest
    assert compute_delay(plain, attempt, Random(seed)) == longest


def test_jitter_spreads_the_waits_over_the_whole_range() -> None:
    rng, retry = Random(1), Retry(jitter=True)
    waits = [compute_delay(retry, 2, rng) for _ in range(500)]
    assert min(waits) < 0.4
    assert max(waits) > 3.6
    assert 1.6 < sum(waits) / len(waits) < 2.4


def test_the_helpers_of_this_file_tell_a_right_call_from_a_wrong_one(wire: Wiring) -> None:
    assert isinstance(INVITATION, Invitation)
    assert isinstance(PARITY_CALL, ParityCall)
    assert isinstance(Peer(GAME_INVITATION=behaves).ask(wire), JoinAck)
