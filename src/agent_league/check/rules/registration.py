"""The rules for a registration, as the check's own league gets it."""

from functools import partial

from agent_league.check.exchange import Exchange, Problem
from agent_league.check.judging import (
    equals,
    field,
    find_first_problem,
    is_text,
    is_utc,
    list_requests,
    matches,
)
from agent_league.check.observations import Observations
from agent_league.check.rule import Case, NotJudgedError, rule
from agent_league.protocol import Role
from agent_league.protocol.fields import SEMANTIC_VERSION_PATTERN, VERSION, find_endpoint_problem
from agent_league.protocol.requirements import any_agent as required
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

LONGEST_NAME = 50
is_member = matches("(player|referee):.+")
member_rule = partial(rule, (Role.PLAYER, Role.REFEREE))


def _get_message(observations: Observations) -> Exchange:
    """Return the registration, if it is a message at all."""
    registration = observations.get_registration()
    if not registration.url.endswith("/mcp"):
        raise NotJudgedError("its registration is no message of the protocol: register.message")
    return registration


def _select_meta(observations: Observations) -> list[Case[Json]]:
    """Return what the agent says about itself."""
    registration = _get_message(observations)
    message = registration.request_message
    metas = map(message.get, ("player_meta", "referee_meta"))
    return [Case(next((meta for meta in metas if isinstance(meta, dict)), message), registration)]


@member_rule(
    required.REGISTRATION_CALL,
    lambda observations: [observations.get_registration()],
    recorded=(
        rules.FRAME_MISSING,
        rules.FRAME_ID_MISSING,
        rules.MESSAGE_NESTED,
        rules.MESSAGE_TYPE_CASE,
    ),
)
def registers_by_a_call(registration: Exchange) -> Problem:
    frame, message = registration.request, registration.request_message
    if not registration.url.endswith("/mcp"):
        return f"it registers by POST {registration.url}, not by a call at /mcp"
    if registration.is_tool_call:
        return f"it registers by {registration.describe_call()}; the method is the tool itself"
    kind = message.get("message_type")
    missing = [key for key in ("jsonrpc", "method", "params", "id") if key not in frame]
    if missing:
        return f"the frame has no {missing[0]}"
    if frame.get("params") != message:
        return "the message is not params itself"
    return None if kind == str(kind).upper() else f"message_type: {kind!r} is not in capitals"


@member_rule(
    required.REGISTRATION_ENVELOPE,
    lambda observations: list_requests([_get_message(observations)]),
    recorded=(
        rules.SENDER_MISSING,
        rules.SENDER_FORM,
        rules.TIMESTAMP_MISSING,
        rules.TIMESTAMP_FORM,
        rules.PROTOCOL_VERSION,
    ),
)
def registers_with_an_envelope(message: Json) -> Problem:
    checks = (
        equals("protocol", VERSION),
        field("sender", is_member, '"type:id"'),
        field("timestamp", is_utc, "ISO 8601 in UTC"),
        field("conversation_id", is_text, "text"),
    )
    return find_first_problem(check(message) for check in checks)


def _is_name(value: Json) -> bool:
    return is_text(value) and len(value.strip()) in range(1, LONGEST_NAME + 1)


has_a_name = member_rule(required.DISPLAY_NAME, _select_meta)(
    field("display_name", _is_name, "1 to 50 characters")
)
has_a_version = member_rule(required.VERSION, _select_meta)(
    field("version", matches(SEMANTIC_VERSION_PATTERN.pattern), "a version such as 1.0.0")
)
plays_even_odd = member_rule(required.GAME_TYPES, _select_meta)(
    field("game_types", lambda v: isinstance(v, list) and "even_odd" in v, 'a list with "even_odd"')
)
gives_its_address = member_rule(required.CONTACT_ENDPOINT, _select_meta)(
    field(
        "contact_endpoint",
        lambda value: is_text(value) and find_endpoint_problem(value) is None,
        "an http:// address",
    )
)


def _select_senders(observations: Observations) -> list[Case[tuple[str, str]]]:
    """Return the senders of its messages, each with the id that it was given."""
    observations.get_registration()
    found = [
        Case((message["sender"], observations.assigned_id), exchange)
        for message, exchange, _ in observations.list_own_messages()
        if is_member(message.get("sender"))
    ]
    if not found and observations.calls:
        raise NotJudgedError("it sent no message with a sender")
    return found


def _check_id(names: tuple[str, str]) -> Problem:
    sender, assigned_id = names
    used = sender.partition(":")[2] == assigned_id
    return None if used else f"sender: expected the id {assigned_id!r}, got {sender!r}"


uses_its_id = (
    rule((Role.PLAYER,), rules.PLAYER_ID_OTHER, _select_senders, id="register.id-used")(_check_id),
    rule(
        (Role.REFEREE,),
        required.REFEREE_ID,
        _select_senders,
        recorded=(rules.PLAYER_ID_OTHER,),
    )(_check_id),
)

says_its_capacity = rule((Role.REFEREE,), required.CAPACITY, _select_meta)(
    field("max_concurrent_matches", lambda v: type(v) is int and v in range(1, 11), "1 to 10")
)
