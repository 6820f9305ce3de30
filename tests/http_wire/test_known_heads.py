import pytest

from agent_league.http import known_heads
from agent_league.http.known_heads import KnownHeads

HEAD = b"POST /mcp HTTP/1.1\r\nhost: here\r\nContent-Length: "


def message(body: bytes, length: bytes | None = None, head: bytes = HEAD) -> bytes:
    return head + (b"%d" % len(body) if length is None else length) + b"\r\n\r\n" + body


def learned(data: bytes) -> KnownHeads[str]:
    heads = KnownHeads[str]()
    heads.learn(data, "known")
    return heads


def test_only_the_length_may_differ() -> None:
    heads = learned(message(b"{}"))
    for body in (b"[]", b"", b"a longer body\r\n\r\nwith an empty line", b"[]"):
        assert heads.find(message(body)) == ("known", body)


@pytest.mark.parametrize(
    "other",
    [
        message(b"{}", head=HEAD.replace(b"here", b"there")),
        message(b"{}", head=HEAD.lower()),
        message(b"{") + message(b"{}"),
        HEAD + b"2\r\n\r",
        HEAD + b"2",
        b"",
        *(message(b"{}", length) for length in (b"1", b"3", b"02", b"+2", b"2 ", b"", b"9" * 9000)),
        message(b"{}", b"2\r\nx: y"),
    ],
)
def test_what_is_not_whole_or_not_plain_is_left_to_the_parser(other: bytes) -> None:
    heads = learned(message(b"{}"))
    for _ in range(2):
        assert heads.find(other) is None
        assert heads.find(message(b"{}")) is not None


@pytest.mark.parametrize(
    "data",
    [
        message(b"{}", head=b"POST /mcp HTTP/1.1\r\nx-content-length: "),
        message(b"{}", head=b"POST /mcp HTTP/1.1\r\nx-length: "),
        message(b"{}", length=b"2\r\nhost: here"),
        message(b"{}") + message(b"{}"),
        message(b"{}", head=b"x: " + b"y" * known_heads.LONGEST_HEAD + b"\r\n" + HEAD),
        b"GET / HTTP/1.1\r\n\r\n",
        b"",
    ],
)
def test_only_one_whole_message_that_ends_with_its_length_is_learned(data: bytes) -> None:
    assert learned(data).find(data) is None


def test_strangers_cannot_fill_the_memory_with_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_heads, "MAX_HEADS", 3)
    heads = KnownHeads[int]()
    posts = [message(b"", head=b"x: %d\r\n" % number + HEAD) for number in range(5)]
    for number, post in enumerate(posts):
        heads.learn(post, number)
    assert [heads.find(post) is not None for post in posts] == [False, False, False, True, True]
    for length in range(10):
        assert heads.find(message(b"x" * length, head=b"x: 4\r\n" + HEAD)) is not None
