"""RFC 9728: with an issuer, only whom it knows uses the tools of a league; its agents play as before."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer, HttpRequest
from agent_league.http.server import HttpServer
from agent_league.http.site import Site
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.serving.bearer import METADATA_PATH, BearerGate, IssuerError
from end_to_end.http_league import HttpLeague, played
from serving.callers import BOTH, sent

Script: TypeAlias = "Callable[[HttpLeague, Issuer], Awaitable[None]]"

RESOURCE = "https://league.example.org/mcp"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}


class Issuer:
    """A real OAuth server, as far as a league needs one: it publishes its keys."""

    def __init__(self, key: Any = KEY) -> None:
        self._key = key
        self.url = ""

    async def open(self) -> HttpServer:
        sock = bind(LOOPBACK, 0)
        self.url = url_of(sock).removesuffix("/mcp")
        public = json.loads(RSAAlgorithm.to_jwk(self._key.public_key()))
        pages: dict[str, Any] = {
            "/.well-known/openid-configuration": {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
            },
            "/keys": {"keys": [{**public, "kid": "one", "use": "sig", "alg": "RS256"}]},
        }
        site = Site(
            answer=lambda body, headers: Answer(404, b"{}"),
            find_page=pages.get,
            too_large=lambda: Answer(413, b"{}"),
        )
        return await HttpServer.start(site, sock)

    def write_token(self, key: Any = None, algorithm: str = "RS256", **changes: Any) -> str:
        now = datetime.now(UTC)  # noqa: TID251 - an issuer has its own clock
        claims = {"iss": self.url, "aud": RESOURCE, "sub": "ada", "exp": now + timedelta(hours=1)}
        claims = {name: value for name, value in {**claims, **changes}.items() if value is not None}
        headers = {"kid": claims.pop("kid", "one")}
        return jwt.encode(claims, key or self._key, algorithm=algorithm, headers=headers)


async def call(league: HttpLeague, method: str, params: Any, token: str | None = None) -> Any:
    """Return the status, the headers and the body of the answer to an MCP request."""
    frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"content-type": "application/json", "accept": BOTH}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    request = HttpRequest(json.dumps(frame).encode(), headers, lambda data: True)
    return await league.wire.exchange(league.url, request, 20.0)


JOIN = {"name": "join_league", "arguments": {"display_name": "Ada"}}


def in_a_gated_league(script: Script) -> None:
    """Run *script* in a league whose tools are only for those whom an issuer knows."""

    async def run() -> None:
        issuer, client = Issuer(), HttpClient()
        server = await issuer.open()
        gate = BearerGate(issuer.url, RESOURCE)
        await gate.load_keys(client)
        league = HttpLeague(awaited_players=2)
        league.manager.bearer_gate = gate
        async with league:
            await script(league, issuer)
        await client.close()
        await server.close()

    asyncio.run(run())


def test_nobody_without_a_token_of_the_issuer_uses_the_tools() -> None:
    async def script(league: HttpLeague, issuer: Issuer) -> None:
        wrong = {
            "none": None,
            "nonsense": "x.y.z",
            "of the league": league.manager.season.organiser or "tok_P01_x",
            "another key": issuer.write_token(OTHER_KEY),
            "another issuer": issuer.write_token(iss="https://evil.example"),
            "another audience": issuer.write_token(aud="https://other.example/mcp"),
            "no audience": issuer.write_token(aud=None),
            "no expiry": issuer.write_token(exp=None),
            "expired": issuer.write_token(exp=datetime(2020, 1, 1, tzinfo=UTC)),
            "an unknown key": issuer.write_token(kid="two"),
            "not signed": jwt.encode(
                {"iss": issuer.url, "aud": RESOURCE, "exp": 9999999999}, "", algorithm="none"
            ),
        }
        for name, token in wrong.items():
            for method, params in (("tools/call", JOIN), ("initialize", HELLO), ("tools/list", {})):
                answer = await call(league, method, params, token)
                assert answer.status == 401, (name, method)
                challenge = answer.headers["www-authenticate"]
                assert METADATA_PATH in challenge, name
        for method in ("join_league", "get_standings"):  # the same tools, without MCP
            frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": JOIN["arguments"]}
            answer = await league.wire.post(league.url, json.dumps(frame).encode(), 20.0)
            assert answer.status == 401
        assert not league.manager.season.roster.entries()

    in_a_gated_league(script)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_nobody_without_a_token_opens_or_ends_a_stream(method: str) -> None:
    async def script(league: HttpLeague, issuer: Issuer) -> None:
        for token in ("", "x.y.z", issuer.write_token(OTHER_KEY)):
            headers = {"accept": "text/event-stream", "mcp-session-id": "0" * 32}
            headers |= {"authorization": f"Bearer {token}"} if token else {}
            answer = await sent(league.url, b"", headers, method)
            assert answer.status == 401
            assert METADATA_PATH in answer.headers["www-authenticate"]

    in_a_gated_league(script)


def test_whoever_has_a_token_of_the_issuer_uses_the_tools() -> None:
    async def script(league: HttpLeague, issuer: Issuer) -> None:
        for _ in range(2):  # the second time it is known
            answer = await call(league, "tools/call", JOIN, issuer.write_token())
            assert answer.status == 200
        hello = await call(league, "initialize", HELLO, issuer.write_token())
        assert b"protocolVersion" in hello.body
        assert league.manager.season.roster.entries()

    in_a_gated_league(script)


def test_agents_of_the_league_need_no_issuer() -> None:
    async def script(league: HttpLeague, issuer: Issuer) -> None:
        await league.add_referee()
        await league.add_player()
        await league.add_player()
        await league.play()
        assert league.manager.season.played == 1

    in_a_gated_league(script)


def test_a_client_reads_where_to_get_a_token() -> None:
    async def script(league: HttpLeague, issuer: Issuer) -> None:
        base = league.url.removesuffix("/mcp")
        for path in (METADATA_PATH, f"{METADATA_PATH}/mcp"):
            page = json.loads((await league.wire.get(base + path, 10.0)).body)
            assert page["resource"] == RESOURCE
            assert page["authorization_servers"] == [issuer.url]

    in_a_gated_league(script)


def test_a_league_without_an_issuer_has_no_metadata_and_lets_everybody_in() -> None:
    async def script(league: HttpLeague) -> None:
        assert (await call(league, "initialize", HELLO)).status == 200
        page = await league.wire.get(league.url.removesuffix("/mcp") + METADATA_PATH, 10.0)
        assert page.status == 404

    played(script)


@pytest.mark.parametrize("issuer", ["http://127.0.0.1:9", "http://127.0.0.1:9/x"])
def test_an_issuer_that_cannot_be_reached_is_told(issuer: str) -> None:
    async def main() -> None:
        client = HttpClient()
        with pytest.raises(IssuerError, match="does not say where its keys are"):
            await BearerGate(issuer, RESOURCE).load_keys(client)
        await client.close()

    asyncio.run(main())
