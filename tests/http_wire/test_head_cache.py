import pytest

from agent_league.http.head_cache import HeadCache

HEAD = b"POST /mcp HTTP/1.1\r\nhost: here\r\nContent-Length: "


def message(body: bytes, length: bytes | None = None, head: bytes = HEAD) -> bytes:
    return head + (b"%d" % len(body) if length is None else length) + b"\r\n\r\n" + body


def familiar(learned: bytes) -> HeadCache:
    head = HeadCache()
    head.learn(learned)
    return head


def test_only_the_length_may_differ() -> None:
    head = familiar(message(b"{}"))
    assert head.find_body(message(b"a longer body\r\n\r\nwith an empty line")) is not None
    assert head.find_body(message(b"")) == b""
    assert head.find_body(message(b"{}", head=HEAD.replace(b"here", b"there"))) is None
    assert head.find_body(message(b"{}", head=HEAD.lower())) is None


@pytest.mark.parametrize(
    "length", [b"1", b"3", b"02", b"+2", b"2 ", b"", b"9" * 9000, b"2\r\nx: y"]
)
def test_what_is_not_whole_or_not_plain_is_left_to_the_parser(length: bytes) -> None:
    assert familiar(message(b"{}")).find_body(message(b"{}", length)) is None


def test_a_head_that_has_not_ended_is_left_to_the_parser() -> None:
    unended = HEAD + b"%d" % (len(HEAD) + 1)
    assert familiar(message(b"{}")).find_body(unended + b"\r") is None
    assert familiar(message(b"{}")).find_body(b"") is None


@pytest.mark.parametrize(
    "learned",
    [
        message(b"{}", head=b"POST /mcp HTTP/1.1\r\nx-length: "),
        message(b"{}", length=b"2\r\nhost: here"),
        message(b"{}") + message(b"{}"),
        b"GET / HTTP/1.1\r\n\r\n",
        b"",
    ],
)
def test_only_one_whole_message_that_ends_with_its_length_is_learned(learned: bytes) -> None:
    assert familiar(learned).find_body(learned) is None


def test_a_head_that_cannot_be_learned_makes_the_last_one_forgotten() -> None:
    head = familiar(message(b"{}"))
    head.learn(b"GET / HTTP/1.1\r\n\r\n")
    assert head.find_body(message(b"{}")) is None
