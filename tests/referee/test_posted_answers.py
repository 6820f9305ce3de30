"""Answers that a player posts to the referee: its own, for what is open, once."""

import asyncio
from typing import Any

import pytest

from agent_league.http.exchange import Answer
from agent_league.protocol import tokens
from arena import Arena
from scripted import Call
from timewarp import run

JOIN, CHOOSE = "GAME_INVITATION", "CHOOSE_PARITY_CALL"
TOKEN = tokens.new_token("P01")


class Late(Arena):
    """A match whose first player says RECEIVED, and posts what *posts* makes of its answer."""

    def __init__(self, posts: Any, word: str = "RECEIVED") -> None:
        super().__init__({JOIN: self._received, CHOOSE: self._received})
        self._posts, self._word = posts, word
        self.answers: list[Any] = []
        self._posting: set[asyncio.Task[None]] = set()

    def _received(self, call: Call) -> Answer:
        self._posting.add(asyncio.ensure_future(self._post_all(call)))
        return call.returns({"status": self._word})

    async def _post_all(self, call: Call) -> None:
        await asyncio.sleep(1)
        for message in self._posts(call.right() | {"auth_token": call.message["auth_token"]}):
            self.answers.append(await self.use(message["message_type"], **message))


def played(posts: Any, word: str = "RECEIVED", **changes: Any) -> Late:
    async def main() -> Late:
        arena = Late(posts, word)
        await arena.play(**changes)
        await asyncio.sleep(60)
        await arena.referee.close()
        return arena

    return run(main())


def own(answer: Any) -> list[Any]:
    return [answer]


def test_an_answer_that_was_promised_may_come_as_a_request() -> None:
    arena = played(own)
    assert arena.result["termination"] == "completed"
    assert [answer["status"] for answer in arena.answers] == ["ok", "ok"]
    assert arena.report["violations"] == [
        {"player_id": "P01", "rule": "later-answer", "got": "GAME_JOIN_ACK as a request"}
    ]


def test_a_player_may_show_the_token_that_its_ticket_was_made_with() -> None:
    ticket = tokens.sign_ticket(tokens.hash_token(TOKEN), "R1M1", "conv-r1m1-001", "P01")
    arena = Arena()
    players = [arena.contestant("P01", ticket=ticket), arena.contestant("P02")]
    late = played(lambda answer: [answer | {"auth_token": TOKEN}], players=players)
    assert late.result["termination"] == "completed"


@pytest.mark.parametrize(
    "forged",
    [
        {"auth_token": "tkt_P02"},
        {"auth_token": "tkt_R1M1"},
        {"match_id": "R9M9"},
    ],
)
def test_nobody_answers_for_a_player(forged: dict[str, Any]) -> None:
    """The opponent has a ticket too, and knows the match: that is not enough."""
    arena = played(lambda answer: [answer | forged])
    assert arena.result["technical_losses"] == ["P01"]
    assert all(answer["code"] == -32003 for answer in arena.answers)


@pytest.mark.parametrize("token", ["", None])
@pytest.mark.parametrize("word", ["RECEIVED", "acknowledged", "choice_sent"])
def test_an_answer_without_a_token_that_comes_after_the_players_own_does_not_count(
    token: str | None, word: str
) -> None:
    arena = played(lambda answer: [answer | {"auth_token": token}], word)
    assert arena.result["technical_losses"] == ["P01"]
    assert {answer["status"] for answer in arena.answers} == {"ok"}  # it tells a stranger nothing


class Poster(Arena):
    """A match whose first player posts its answer without a token, then answers *word*.

    *strangers* make of its answer what others post before the player does.
    """

    def __init__(self, word: str, *strangers: Any) -> None:
        super().__init__({JOIN: self._post, CHOOSE: self._post})
        self._word, self._strangers = word, strangers
        self.asked: list[str] = []

    async def _post(self, call: Call) -> Answer:
        self.asked.append(call.kind)
        own = call.right() | {"auth_token": ""}
        for stranger in self._strangers:
            await self.use(own["message_type"], **stranger(own))
        if self._word:
            await self.use(own["message_type"], **{k: own[k] for k in own if k != "player_id"})
        word = {JOIN: "joined", CHOOSE: self._word or "odd"}[call.kind]
        return call.returns({"status": word})


def posted(word: str, *strangers: Any, **changes: Any) -> Poster:
    async def main() -> Poster:
        arena = Poster(word, *strangers)
        await arena.play(**changes)
        await arena.referee.close()
        return arena

    return run(main())


def other_move(answer: Any) -> Any:
    other = {"accept": False} if "accept" in answer else {"parity_choice": "odd"}
    return answer | other


def test_an_answer_without_a_token_counts_when_the_player_itself_says_that_it_has_sent_it() -> None:
    arena = posted("choice_sent")
    assert arena.result["termination"] == "completed"
    assert arena.result["details"]["choices"]["P01"] == "even"
    assert {one["rule"] for one in arena.report["violations"]} == {"later-answer"}


def test_the_move_of_a_stranger_never_counts_beside_the_players_own() -> None:
    arena = posted("choice_sent", other_move)
    assert arena.result["technical_losses"] == ["P01"]
    assert arena.asked.count(CHOOSE) > 1  # it is asked again while its time lasts
    assert arena.result["details"]["choices"]["P01"] is None


def test_a_stranger_that_repeats_the_players_move_changes_nothing() -> None:
    arena = posted("choice_sent", lambda answer: answer)
    assert arena.result["details"]["choices"]["P01"] == "even"


@pytest.mark.parametrize("word", ["ok", "RECEIVED", "acknowledged"])
def test_the_move_of_a_stranger_does_not_count_for_a_player_that_posts_nothing(word: str) -> None:
    class Silent(Poster):
        async def _post(self, call: Call) -> Answer:
            await self.use(call.right()["message_type"], **call.right() | {"auth_token": ""})
            return call.returns({"status": "joined" if call.kind == JOIN else word})

    async def main() -> Silent:
        arena = Silent("")
        await arena.play()
        await arena.referee.close()
        return arena

    assert run(main()).result["technical_losses"] == ["P01"]


def test_nobody_declines_for_a_player_that_joins() -> None:
    arena = posted("choice_sent", lambda a: other_move(a) if "accept" in a else a)
    assert arena.result["termination"] == "completed"


def test_a_strict_league_takes_no_answer_that_was_posted() -> None:
    arena = posted("choice_sent", strictness="strict")
    assert arena.result["technical_losses"] == ["P01"]


def test_only_the_first_answer_counts() -> None:
    def twice(answer: Any) -> list[Any]:
        other = {"accept": False} if "accept" in answer else {"parity_choice": "odd"}
        return [answer, answer | other]

    arena = played(twice)
    assert arena.result["termination"] == "completed"
    assert arena.result["details"]["choices"]["P01"] == "even"
    assert [answer.get("status") for answer in arena.answers] == ["ok", None, "ok", None]


def test_an_answer_that_nobody_asked_for_is_refused() -> None:
    async def main() -> Any:
        arena = Arena()
        await arena.referee.register()
        reply = {"message_type": "GAME_JOIN_ACK", "match_id": "R1M1"}
        return await arena.use("GAME_JOIN_ACK", **reply), arena

    answer, _ = run(main())
    assert answer["code"] < 0


def test_a_strict_league_wants_its_answers_at_once() -> None:
    arena = played(own, strictness="strict")
    assert arena.result["technical_losses"] == ["P01"]
    assert [one["rule"] for one in arena.report["violations"]] == ["later-answer"]
