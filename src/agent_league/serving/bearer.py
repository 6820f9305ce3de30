"""Lets only those use a league's tools whom an OAuth issuer knows: RFC 9728 and RFC 9068.

Messages of the league protocol pass: each proves itself, by the token of its agent or a ticket.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from agent_league.clock import Clock, system_clock
from agent_league.extras import import_extra
from agent_league.http.exchange import Answer, Wire
from agent_league.protocol import LeagueError
from agent_league.protocol.failures import NoAnswerError
from agent_league.vocabulary import Json

METADATA_PATH = "/.well-known/oauth-protected-resource"
"""Where a client reads who issues tokens for this league (RFC 9728)."""
ISSUER_PATHS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
"""None of them is symmetric: this league could sign tokens itself if it could check those."""
PATIENCE = 10.0
MOST_TOKENS = 4096
LEEWAY = 30.0
"""Seconds by which the clock of the issuer may differ from ours."""


class IssuerError(LeagueError):
    """The issuer cannot be used."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.hint = "--issuer is the address of an OAuth server that publishes its keys (jwks_uri)"


class BearerGate:
    """Admits tokens that *issuer* made for *resource*, the address of this league."""

    def __init__(self, issuer: str, resource: str, clock: Clock = system_clock) -> None:
        self._issuer, self._resource, self._clock = issuer, resource, clock
        self._keys: dict[str, Any] = {}
        self._admitted: dict[str, float] = {}
        """The tokens that were found to be right, and when they expire."""
        self._jwt = import_extra("jwt", "oauth")

    async def load_keys(self, wire: Wire) -> None:
        """Get the keys of the issuer, or raise `IssuerError`."""
        document = await self._find_document(wire)
        if document.get("issuer") != self._issuer:
            raise IssuerError(f"{self._issuer} calls itself {document.get('issuer')!r:.80}")
        keys = await _read_json(wire, str(document.get("jwks_uri")))
        found = self._jwt.PyJWKSet.from_dict(keys).keys if isinstance(keys, dict) else ()
        self._keys = {key.key_id: key for key in found}

    async def _find_document(self, wire: Wire) -> dict[str, Json]:
        for path in ISSUER_PATHS:
            document = await _read_json(wire, self._issuer.rstrip("/") + path)
            if isinstance(document, dict) and "jwks_uri" in document:
                return document
        raise IssuerError(f"{self._issuer} does not say where its keys are")

    def admits(self, token: str | None) -> bool:
        """Whether *token* is right now."""
        if token is None:
            return False
        now = self._clock().timestamp()
        if self._admitted.get(token, 0.0) > now:
            return True
        expires = self._read_expiry(token)
        if expires is None:
            return False
        if len(self._admitted) >= MOST_TOKENS:
            self._admitted.clear()
        self._admitted[token] = expires
        return True

    def _read_expiry(self, token: str) -> float | None:
        """Return when a right *token* expires, None if it is not right."""
        try:
            key = self._keys.get(self._jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims: Mapping[str, Any] = self._jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._resource,
                issuer=self._issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except self._jwt.PyJWTError:
            return None
        return float(claims["exp"])

    def describe(self) -> dict[str, Json]:
        """Return the metadata of this league as a protected resource."""
        return {
            "resource": self._resource,
            "authorization_servers": [self._issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Agent League",
        }

    def refuse(self, token: str | None) -> Answer:
        """Return the answer that sends a client to the issuer."""
        base = self._resource.removesuffix("/mcp")
        why = 'error="invalid_token", ' if token else ""
        challenge = f'Bearer {why}resource_metadata="{base}{METADATA_PATH}"'
        text = "this league admits only those whom its issuer knows"
        body = msgspec.json.encode({"error": text})
        return Answer(401, body, headers=(("www-authenticate", challenge),), is_refusal=True)


async def _read_json(wire: Wire, url: str) -> Json:
    try:
        answer = await wire.get(url, PATIENCE)
        return msgspec.json.decode(answer.body)
    except (NoAnswerError, msgspec.DecodeError, ValueError):
        return None
