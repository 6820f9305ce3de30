import asyncio
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agent_league.dialects.dialect import Outgoing
from agent_league.peers.outbox import Outbox, QueuedMessage, Urgency
from agent_league.protocol.play import GameOver
from timewarp import now, run

GAME, NEWS, TABLE, FAREWELL = Urgency.GAME, Urgency.NEWS, Urgency.TABLE, Urgency.FAREWELL


def letter(text: str) -> Outgoing:
    return Outgoing(GameOver, text.encode())


class Peer:
    """Takes letters one by one, each in so many seconds."""

    def __init__(self, seconds: float = 1.0, limit: int = 32) -> None:
        self.taken: list[str] = []
        self.at: list[float] = []
        self.at_once = 0
        self.most_at_once = 0
        self._seconds = seconds
        self.outbox = Outbox(self._start, limit)
        self._tasks: set[asyncio.Future[None]] = set()

    def _start(self, messages: Sequence[QueuedMessage]) -> None:
        (message,) = messages
        task = asyncio.ensure_future(self._take(message.outgoing))
        self._tasks.add(task)
        task.add_done_callback(lambda done: message.leave())

    async def _take(self, taken: Outgoing) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self._seconds)
        self.at_once -= 1
        self.taken.append(taken.body.decode())
        self.at.append(now())

    def put(self, text: str, urgency: Urgency = NEWS, replaces: str | None = None) -> None:
        self.outbox.put(letter(text), urgency, replaces)


def test_letters_go_out_one_at_a_time_and_in_order() -> None:
    async def main() -> Peer:
        peer = Peer()
        for text in "abc":
            peer.put(text)
        await peer.outbox.wait_until_empty()
        return peer

    peer = run(main())
    assert peer.taken == ["a", "b", "c"]
    assert peer.at == [1, 2, 3]
    assert peer.most_at_once == 1


def test_the_urgent_goes_first() -> None:
    async def main() -> list[str]:
        peer = Peer()
        peer.put("farewell", FAREWELL)
        peer.put("table", TABLE)
        peer.put("news 1")
        peer.put("news 2")
        peer.put("game", GAME)
        await peer.outbox.wait_until_empty()
        return peer.taken

    assert run(main()) == ["game", "news 1", "news 2", "table", "farewell"]


def test_a_letter_that_is_on_its_way_is_not_called_back() -> None:
    async def main() -> list[str]:
        peer = Peer()
        peer.put("table 1", TABLE, "table")
        await asyncio.sleep(0.5)
        peer.put("table 2", TABLE, "table")
        peer.put("game", GAME)
        await peer.outbox.wait_until_empty()
        return peer.taken

    assert run(main()) == ["table 1", "game", "table 2"]


def test_the_newest_replaces_what_still_waits_under_the_same_key() -> None:
    async def main() -> list[str]:
        peer = Peer()
        peer.put("news")
        for number in range(10):
            peer.put(f"table {number}", TABLE, "table")
            peer.put(f"odds {number}", TABLE, "odds")
        assert len(peer.outbox) == 3
        await peer.outbox.wait_until_empty()
        return peer.taken

    assert run(main()) == ["news", "table 9", "odds 9"]


def test_letters_without_a_key_never_replace_each_other() -> None:
    async def main() -> list[str]:
        peer = Peer()
        peer.put("same")
        peer.put("same")
        await peer.outbox.wait_until_empty()
        return peer.taken

    assert run(main()) == ["same", "same"]


def test_when_it_is_full_the_oldest_of_the_least_urgent_gives_way() -> None:
    async def main() -> Peer:
        peer = Peer(limit=3)
        peer.put("table 1", TABLE)
        peer.put("table 2", TABLE)
        peer.put("game", GAME)
        peer.put("news", NEWS)
        assert len(peer.outbox) == 3
        assert peer.outbox.dropped == 1
        await peer.outbox.wait_until_empty()
        return peer

    assert run(main()).taken == ["game", "news", "table 2"]


def test_an_empty_outbox_is_drained_at_once_and_works_again_afterwards() -> None:
    async def main() -> Peer:
        peer = Peer()
        await peer.outbox.wait_until_empty()
        assert now() == 0
        peer.put("a")
        await peer.outbox.wait_until_empty()
        await asyncio.sleep(10)
        peer.put("b")
        await peer.outbox.wait_until_empty()
        assert len(peer.outbox) == 0
        return peer

    assert run(main()).at == [1, 12]


def test_a_slow_peer_does_not_hold_up_another() -> None:
    async def main() -> None:
        slow, quick = Peer(600.0), Peer(0.0)
        for number in range(20):
            slow.put(str(number))
            quick.put(str(number))
        await quick.outbox.wait_until_empty()
        assert len(quick.taken) == 20
        assert now() == 0
        slow.outbox.close()

    run(main())


def test_a_closed_outbox_sends_nothing_more() -> None:
    async def main() -> Peer:
        peer = Peer()
        for text in "abc":
            peer.put(text)
        await asyncio.sleep(1.5)
        peer.outbox.close()
        await asyncio.sleep(10)
        assert len(peer.outbox) == 0
        return peer

    assert run(main()).taken == ["a", "b"]  # which was on its way


@given(
    st.lists(st.tuples(st.sampled_from(Urgency), st.sampled_from([None, "x", "y"])), max_size=40),
    st.integers(1, 10),
)
def test_whatever_is_put_in_it_stays_bounded_and_comes_out_sorted(
    put: list[tuple[Urgency, str | None]], limit: int
) -> None:
    async def main() -> list[str]:
        peer = Peer(limit=limit)
        for number, (urgency, key) in enumerate(put):
            peer.put(f"{urgency:d} {number}", urgency, key and f"{key} {urgency}")
            assert len(peer.outbox) <= limit
        await peer.outbox.wait_until_empty()
        return peer.taken

    taken = [text.split() for text in run(main())]
    assert len(taken) <= min(limit, len(put))
    assert all(earlier[0] <= later[0] for earlier, later in pairwise(taken))


def test_what_waits_for_a_peer_that_takes_batches_goes_out_together() -> None:
    async def main() -> list[list[str]]:
        sent: list[list[str]] = []

        def send(messages: Sequence[QueuedMessage]) -> None:
            sent.append([message.outgoing.body.decode() for message in messages])
            for message in messages:
                message.leave()

        outbox = Outbox(send, sends_batches=True)
        outbox.put(letter("table"), TABLE)
        outbox.put(letter("news"), NEWS)
        await outbox.wait_until_empty()
        outbox.put(letter("more"), NEWS)
        await outbox.wait_until_empty()
        return sent

    assert run(main()) == [["news", "table"], ["more"]]


def test_who_asks_hears_that_a_letter_has_left_also_afterwards() -> None:
    async def main() -> list[str]:
        heard: list[str] = []
        outbox = Outbox(lambda messages: messages[0].leave())
        message = outbox.put(letter("news"), NEWS)
        message.add_done_callback(lambda _: heard.append("before"))
        assert heard == []
        await outbox.wait_until_empty()
        message.add_done_callback(lambda _: heard.append("after"))
        return heard

    assert run(main()) == ["before", "after"]


def test_a_letter_that_is_replaced_has_left() -> None:
    async def main() -> list[str]:
        heard: list[str] = []
        outbox = Outbox(lambda messages: messages[0].leave())
        outbox.put(letter("1"), TABLE, "table").add_done_callback(lambda _: heard.append("1"))
        outbox.put(letter("2"), TABLE, "table").add_done_callback(lambda _: heard.append("2"))
        assert heard == ["1"]
        await outbox.wait_until_empty()
        return heard

    assert run(main()) == ["1", "2"]
