"""The rules that every agent keeps whatever its part: HTTP, JSON-RPC, and no stumbling."""

from agent_league.check.exchange import Complaint, Exchange
from agent_league.check.judging import answered, judged, refused, survived
from agent_league.check.rule import KEPT, Gravity, Verdict, broken, rule, unjudged
from agent_league.check.seen import Seen
from agent_league.protocol import Role

EVERYBODY = (Role.PLAYER, Role.REFEREE, Role.LEAGUE)


@rule(
    "http.json",
    *EVERYBODY,
    title="answers POST /mcp with HTTP 200 and a JSON object",
    section="002 1.3",
    fix="Serve POST at /mcp; answer status 200, content-type application/json, a JSON object.",
    gravity=Gravity.CRITICAL,
)
def answers_with_json(seen: Seen) -> Verdict:
    return judged(seen, [said for said in seen.calls if not said.late], Exchange.problem)


@rule(
    "frame.jsonrpc",
    *EVERYBODY,
    title='answers in a frame: "jsonrpc": "2.0" and a result or an error',
    section="004 Transport Layer",
    fix='Wrap the answer: {"jsonrpc": "2.0", "result": {...}, "id": <the id of the request>}.',
    recorded=("reply-unframed", "reply-in-params", "reply-error-null"),
)
def answers_in_a_frame(seen: Seen) -> Verdict:
    return judged(seen, _framed(seen), _frame_problem)


def _framed(seen: Seen) -> list[Exchange]:
    """Return the answers to what was sent in a frame."""
    return [said for said in seen.calls if said.frame is not None and "method" in said.request]


def _frame_problem(said: Exchange) -> Complaint:
    if said.frame.get("jsonrpc") != "2.0":
        return f'jsonrpc: expected "2.0", got {said.frame.get("jsonrpc")!r}'
    if "result" not in said.frame and not said.error:
        return "there is neither a result nor an error"
    return None


@rule(
    "frame.id",
    *EVERYBODY,
    title="repeats the id of the request, an integer or a string",
    section="001 Transport Layer",
    fix="Copy `id` from the request into the answer, value and type unchanged.",
    recorded=("reply-id",),
)
def repeats_the_id(seen: Seen) -> Verdict:
    calls = [
        *_framed(seen),
        *([seen.string_id] if seen.string_id and "method" in seen.string_id.request else []),
    ]
    framed = [said for said in calls if said.frame is not None and "jsonrpc" in said.frame]
    return judged(seen, framed, _id_problem)


def _id_problem(said: Exchange) -> Complaint:
    sent, came = said.request["id"], said.frame.get("id")
    if type(sent) is type(came) and sent == came:
        return None
    return f"id: expected {sent!r}, got {came!r}"


@rule(
    "frame.tool-name",
    *EVERYBODY,
    title="understands a call by the name of its tool",
    section="001 Required Tools",
    fix="Accept the tool's name (handle_game_invitation, choose_parity, start_match, league_query, "
    "...) as `method`, and find the message in `params`.",
    gravity=Gravity.MINOR,
    recorded=("bare-only", "method-invented"),
)
def knows_its_tools(seen: Seen) -> Verdict:
    if seen.shunned is not None:
        return broken("it understands the message only when it is called otherwise", seen.shunned)
    return KEPT if seen.calls and not seen.calls[0].problem() else unjudged(seen.stopped)


@rule(
    "frame.unknown-method",
    *EVERYBODY,
    title="answers an unknown method with an error, not with a success",
    section="001 Transport Layer",
    fix='Answer {"error": {"code": -32601, "message": "Method not found"}} to a method and '
    "message type that you do not know.",
    gravity=Gravity.MINOR,
    recorded=("ok-to-unknown",),
)
def refuses_an_unknown_method(seen: Seen) -> Verdict:
    return survived(seen, "unknown method", refused)


@rule(
    "frame.broken-json",
    *EVERYBODY,
    title="answers a body that is not JSON with an error, and goes on",
    section="000 Required Capabilities",
    fix='Catch the parse error; answer {"error": {"code": -32700, "message": "Parse error"}, '
    '"id": null}.',
)
def refuses_broken_json(seen: Seen) -> Verdict:
    return survived(seen, "broken json", refused)


@rule(
    "frame.missing-field",
    *EVERYBODY,
    title="answers a message without a required field with an error",
    section="003 10.5",
    fix="Check required fields first; answer E003 MISSING_REQUIRED_FIELD (-32602).",
)
def refuses_a_missing_field(seen: Seen) -> Verdict:
    return survived(seen, "missing field", refused)


@rule(
    "frame.wrong-case",
    *EVERYBODY,
    title="answers a message type in lower case, with a reply or an error, and goes on",
    section="003 10.5",
    fix="Names are case-sensitive: understand it or answer an error, but do answer.",
)
def survives_wrong_case(seen: Seen) -> Verdict:
    return survived(seen, "wrong case", answered)


@rule(
    "frame.non-utc-time",
    *EVERYBODY,
    title="answers a timestamp that is not UTC, with a reply or E021, and goes on",
    section="002 2.4.2",
    fix="Refuse it with E021 INVALID_TIMESTAMP or read it with its offset; do not raise.",
)
def survives_another_time_zone(seen: Seen) -> Verdict:
    return survived(seen, "non-utc time", answered)


@rule(
    "frame.huge-body",
    *EVERYBODY,
    title="survives a body of a megabyte",
    section="003 14.1",
    fix="Limit what you read (10 KB are enough): answer HTTP 413, and go on serving.",
)
def survives_a_huge_body(seen: Seen) -> Verdict:
    return survived(seen, "huge body", lambda said: None)
