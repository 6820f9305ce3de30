"""Messages that third-party agents post to paths of their own, such as `/register`.

The path says what the message is, the query and the body what it holds. It is then handled as
at `/mcp`, and answered without a frame, with the HTTP status that such callers look at.
"""

from collections.abc import Awaitable, Mapping
from urllib.parse import parse_qsl

import msgspec

from agent_league.dialects.meanings import find_message_kind
from agent_league.http.exchange import Answer
from agent_league.protocol import ErrorCode, Message, name
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.serving.tools import Served
from agent_league.vocabulary import Json

_OK, _BAD_REQUEST = 200, 400
_STATUSES: Mapping[str, int] = {
    ErrorCode.AUTH_TOKEN_MISSING: 401,
    ErrorCode.AUTH_TOKEN_INVALID: 401,
    ErrorCode.NOT_ALLOWED: 409,
    ErrorCode.LATE_REGISTRATION: 409,
    ErrorCode.MESSAGE_TOO_LARGE: 413,
}
"""The HTTP status for each code of an error; that of the others is 400."""
_ENDPOINTS = frozenset({"contact_endpoint", "endpoint", "callback_url", "agent_endpoint", "url"})
_METAS = frozenset({"player_meta", "referee_meta"})
_FILLED_IN = ("match_id", "conversation_id", "auth_token")


class RestPaths:
    """Answers what is posted to other paths than `/mcp`."""

    def __init__(self, served: Served) -> None:
        self._agent, self._endpoint = served.agent, served.endpoint
        self._kinds = served.handlers.keys()

    def answer(self, path: str, query: bytes, body: bytes) -> Answer | Awaitable[Answer] | None:
        """Return the answer to *body*; None if it is no message."""
        sent = _read_object(body)
        if sent is None:
            return None
        if "jsonrpc" in sent:
            return self._endpoint.answer(body) if self._takes(sent) else None
        message = {**dict(parse_qsl(query.decode("latin-1"))), **sent}
        kind = None if "message_type" in message else self._find_kind(path, message)
        if kind is not None:
            message = {"message_type": name(kind), **message}
        if "message_type" not in message:
            return None
        answer = self._endpoint.answer(msgspec.json.encode(message))
        is_flat = "message_type" not in sent
        if isinstance(answer, Answer):
            return _write_answer(answer, is_flat=is_flat)
        return _write_later(answer, is_flat=is_flat)

    def _takes(self, frame: Mapping[str, Json]) -> bool:
        """Whether *frame* names a message for this agent, and may come to another path."""
        params = frame.get("params")
        body = params if isinstance(params, dict) else {}
        names = str(body.get("message_type")), str(frame.get("method"))
        kinds = [find_message_kind(text, body, self._kinds) for text in names]
        return not self._agent.strict and any(kind in self._kinds for kind in kinds)

    def _find_kind(self, path: str, body: Mapping[str, Json]) -> type[Message] | None:
        """Return what is meant by the last steps of *path*, or by fields that only one message has."""
        steps = [step for step in path.split("/") if step]
        for count in (1, 2):
            kind = find_message_kind("_".join(steps[-count:]), body, self._kinds)
            if kind is not None:
                return find_message_kind("_".join(steps), body, self._kinds) or kind
        takes_players = RegisterPlayer in self._kinds
        has_meta = bool(_METAS & body.keys()) or {"display_name", "name"} & body.keys()
        if takes_players and has_meta and (_ENDPOINTS | _METAS) & body.keys():
            return find_message_kind("_".join(["register", *steps]), body, self._kinds)
        return None


def fill_in(body: bytes, query: bytes) -> bytes:
    """Return *body* with the match, the conversation and the ticket that the query of its URL names.

    They take the place of what the message leaves out; if it shows no token, of all three.
    """
    frame, found = _read_object(body), dict(parse_qsl(query.decode("latin-1")))
    fields = {key: found[key] for key in _FILLED_IN if found.get(key)}
    if frame is None or not fields:
        return body
    place = frame.get("params", frame) if "method" in frame else frame
    if isinstance(place, dict) and isinstance(place.get("arguments"), dict):
        place = place["arguments"]
    if isinstance(place, dict):
        missing = {key: value for key, value in fields.items() if not place.get(key)}
        place.update(missing if place.get("auth_token") else fields)
    return msgspec.json.encode(frame)


def _read_object(body: bytes) -> dict[str, Json] | None:
    """Return the JSON object in *body*, which may be empty; None if it is something else."""
    try:
        content = msgspec.json.decode(body) if body.strip() else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return content if isinstance(content, dict) else None


async def _write_later(answer: Awaitable[Answer], *, is_flat: bool) -> Answer:
    return _write_answer(await answer, is_flat=is_flat)


def _write_answer(answer: Answer, *, is_flat: bool) -> Answer:
    """Return *answer*, which is a message without a frame, with its status and in plain words."""
    result: dict[str, Json] = _read_object(answer.body) or {}
    code = result.get("error_code")
    if code is not None:
        why = result.get("reason") or result.get("detail") or str(code)
        words = {"status": "rejected" if is_flat else result.get("status", "error"), "error": why}
        status = _STATUSES.get(str(code), _BAD_REQUEST)
        return Answer(
            status, msgspec.json.encode({**result, **words, "message": why, "detail": why})
        )
    if result.get("status") == "ACCEPTED" and str(result.get("message_type")) in _ADMISSIONS:
        result |= _describe_admission(result, is_flat=is_flat)
    return Answer(_OK, msgspec.json.encode({**result, "success": True, "ok": True}))


_ADMISSIONS: Mapping[str, str] = {
    name(RegisterPlayer.reply): "player",
    name(RegisterReferee.reply): "referee",
}


def _describe_admission(result: Mapping[str, Json], *, is_flat: bool) -> dict[str, Json]:
    """Return the words with which other leagues admit an agent."""
    role = _ADMISSIONS[str(result["message_type"])]
    agent_id = result.get(f"{role}_id")
    words: dict[str, Json] = {"registered": True, "agent_type": role, "agent_id": agent_id}
    words["message"] = f"{agent_id} is registered in {result.get('league_id')}"
    return {**words, **({"status": "registered"} if is_flat else {})}
