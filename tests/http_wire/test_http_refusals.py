import asyncio

import pytest

from agent_league.http.client import HttpClient
from http_wire.raw_caller import LIMIT, Run, get, place, post, reply_to, slowly

CHUNKS = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"POST /mcp HT",
        post(b"123")[:-1],
        post(b"123", "expect: 100-continue")[:-1],
        post(b"1") + b"POST",
    ],
)
def test_a_request_that_does_not_arrive_in_time_is_refused(run: Run, start: bytes) -> None:
    async def main() -> None:
        async with place(patience=0.1) as here:
            caller = await here.caller()
            caller.send(start)
            reply = await caller.reply()
            if reply.status in {100, 200}:
                reply = await caller.reply()
            assert (reply.status, reply.headers["connection"]) == (408, "close")
            assert await caller.ended()

    run(main())


def test_a_rested_connection_is_not_hurried(run: Run) -> None:
    async def main() -> None:
        async with place(patience=0.05) as here:
            caller = await here.caller()
            caller.send(post(b"1"))
            await caller.reply()
            await asyncio.wait([asyncio.ensure_future(caller.reader.read(1))], timeout=0.2)
            assert not caller.reader.at_eof()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)
            caller.send(post(b"2"))
            assert (await caller.reply()).body == b"2"

    run(main())


@pytest.mark.parametrize("unusual", ["", "expect: 100-continue\r\n"])
@pytest.mark.parametrize("chunked", [False, True])
def test_an_oversize_body_is_refused_before_it_is_read(
    run: Run, unusual: str, *, chunked: bool
) -> None:
    if chunked:
        data = (CHUNKS[:-2] + unusual + "\r\n" + "200\r\n" + "x" * 512 + "\r\n") * 1
        data += "200\r\n" + "x" * 512
    else:
        data = (
            f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{unusual}content-length: {LIMIT + 1}\r\n\r\n"
        )

    async def main() -> None:
        async with place() as here:
            caller = await here.caller()
            caller.send(data.encode())
            reply = await caller.reply()
            if reply.status == 100:
                reply = await caller.reply()
            assert (reply.status, reply.body) == (413, b'{"too":"large"}')
            assert reply.headers["connection"] == "close"
            assert await caller.ended()
            assert here.asked == []

    run(main())


def test_a_huge_body_is_refused_while_it_is_being_sent(run: Run) -> None:
    async def main() -> None:
        async with place() as here:
            client = HttpClient()
            answer = await client.post(f"http://127.0.0.1:{here.port}/mcp", bytes(10 << 20), 5.0)
            assert answer.status == 413
            await client.close()

    run(main())


def test_a_body_of_the_greatest_size_is_taken(run: Run) -> None:
    assert reply_to(run, post(b"x" * LIMIT)).status == 200
    pieces = CHUNKS + "1f4\r\n" + "x" * 500 + "\r\n1f4\r\n" + "x" * 500 + "\r\n0\r\n\r\n"
    assert reply_to(run, pieces.encode()).body == b"x" * LIMIT


def test_endless_headers_are_refused(run: Run) -> None:
    assert reply_to(run, b"GET / HTTP/1.1\r\nx: " + b"x" * 100_000).status == 431


@pytest.mark.parametrize("unusual", [(), ("expect: 100-continue",)])
@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("content-type: text/plain", 415),
        ("content-type: application/x-www-form-urlencoded", 415),
        ("content-type: application/json", 200),
        ("content-type: Application/JSON;charset=utf-8", 200),
        ("origin: http://evil.example", 403),
        ("origin: null", 403),
        ("origin: http://localhost:2", 403),
        ("origin: http://localhost:1", 200),
    ],
)
def test_web_pages_cannot_drive_an_agent(
    run: Run, header: str, status: int, unusual: tuple[str, ...]
) -> None:
    async def main() -> None:
        async with place() as here:
            caller = await here.caller()
            caller.send(post(b"{}", header, *unusual))
            reply = await caller.reply()
            if reply.status == 100:
                reply = await caller.reply()
            assert reply.status == status
            assert here.asked == ([b"{}"] if status == 200 else [])

    run(main())


@pytest.mark.parametrize(
    "noise",
    [
        b"\x16\x03\x01\x02",
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        get("x:1", method="CONNECT"),
    ],
)
def test_broken_http_is_refused(run: Run, noise: bytes) -> None:
    assert reply_to(run, noise).status == 400


def test_noise_after_a_call_does_not_lose_its_answer(run: Run) -> None:
    async def main() -> None:
        async with place(slowly) as here:
            caller = await here.caller()
            caller.send(post(b"slow") + b"\x00noise")
            assert (await caller.reply()).body == b"slow"
            assert await caller.ended()

    run(main())


def test_a_wish_for_another_protocol_is_not_heard_and_the_call_is_answered(run: Run) -> None:
    wish = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AA")
    assert reply_to(run, post(b"from Java", *wish)).body == b"from Java"


@pytest.mark.parametrize("unusual", [(), ("expect: 100-continue",)])
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1:9", 200),
        ("[::1]", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1:80:80", 421),
        ("", 421),
    ],
)
def test_whoever_listens_to_this_machine_only_is_called_by_its_names(
    run: Run, host: str, status: int, unusual: tuple[str, ...]
) -> None:
    async def main() -> None:
        async with place() as here:
            caller = await here.caller()
            data = post(b"{}", *unusual).replace(b"host: localhost:1", b"host: " + host.encode())
            caller.send(data)
            reply = await caller.reply()
            if reply.status == 100:
                reply = await caller.reply()
            assert reply.status == status

    run(main())


@pytest.mark.parametrize("unusual", [(), ("expect: 100-continue",)])
def test_what_a_site_leaves_to_streams_that_it_has_not_is_not_implemented(
    run: Run, unusual: tuple[str, ...]
) -> None:
    assert reply_to(run, post(b"{}", *unusual), lambda body: None).status in {100, 501}
