"""The rules of a registration, as the check's own league gets it."""

import re
from collections.abc import Callable

from agent_league.check.exchange import Complaint
from agent_league.check.judging import is_text, is_utc, wants
from agent_league.check.rule import KEPT, Gravity, Verdict, broken, rule, unjudged
from agent_league.check.seen import Seen
from agent_league.protocol import Role
from agent_league.protocol.fields import SEMANTIC, endpoint_problem
from agent_league.vocabulary import Json

MEMBERS = (Role.PLAYER, Role.REFEREE)
_METAS = ("player_meta", "referee_meta")
_SENDER = re.compile(r"^(player|referee):.+")
LONGEST_NAME = 50


def _judged(seen: Seen, complain: Callable[[Json], Complaint]) -> Verdict:
    if seen.registration is None:
        return unjudged(seen.unregistered)
    wrong = complain(seen.registration.asked)
    return broken(wrong, seen.registration) if wrong else KEPT


def _meta(said: Json) -> Json:
    found = next((said[key] for key in _METAS if isinstance(said.get(key), dict)), None)
    return found or {}


@rule(
    "register.message",
    *MEMBERS,
    title="registers by a call whose params are the message itself",
    section="002 1.4",
    fix='Post {"jsonrpc": "2.0", "method": "register_player", "params": {"message_type": '
    '"LEAGUE_REGISTER_REQUEST", ...}, "id": 1} (REFEREE_REGISTER_REQUEST for a referee).',
    recorded=("frame-missing", "frame-id-missing", "message-nested", "message-type-case"),
)
def registers_by_a_call(seen: Seen) -> Verdict:
    if seen.registration is None:
        return unjudged(seen.unregistered)
    frame, said = seen.registration.request, seen.registration.asked
    kind = said.get("message_type")
    lacking = [key for key in ("jsonrpc", "method", "params", "id") if key not in frame]
    wrong = (
        (f"the frame has no {lacking[0]}" if lacking else None)
        or (None if frame.get("params") == said else "the message is not params itself")
        or (None if kind == str(kind).upper() else f"message_type: {kind!r} is not in capitals")
    )
    return broken(wrong, seen.registration) if wrong else KEPT


@rule(
    "register.envelope",
    *MEMBERS,
    title="registers with the whole envelope",
    section="002 2.4.1",
    fix='Send protocol "league.v2", sender "player:NAME" or "referee:NAME", a timestamp in UTC and '
    "a conversation_id with the registration too.",
    recorded=(
        "sender-missing",
        "sender-form",
        "timestamp-missing",
        "timestamp-form",
        "protocol-version",
    ),
)
def registers_with_an_envelope(seen: Seen) -> Verdict:
    def problem(said: Json) -> Complaint:
        return (
            wants(said, "protocol", lambda value: value == "league.v2", '"league.v2"')
            or wants(said, "sender", lambda v: is_text(v) and bool(_SENDER.match(v)), '"type:id"')
            or wants(said, "timestamp", is_utc, "ISO 8601 in UTC")
            or wants(said, "conversation_id", is_text, "text")
        )

    return _judged(seen, problem)


@rule(
    "register.display-name",
    *MEMBERS,
    title="has a display_name of 1 to 50 characters",
    section="003 3.3.2",
    fix="Give a display_name of 1 to 50 characters.",
)
def has_a_name(seen: Seen) -> Verdict:
    def right(value: Json) -> bool:
        return is_text(value) and len(value.strip()) in range(1, LONGEST_NAME + 1)

    return _judged(
        seen, lambda said: wants(_meta(said), "display_name", right, "1 to 50 characters")
    )


@rule(
    "register.version",
    *MEMBERS,
    title="has a semantic version",
    section="003 3.3.2",
    fix='Give a version such as "1.0.0".',
)
def has_a_version(seen: Seen) -> Verdict:
    def right(value: Json) -> bool:
        return is_text(value) and bool(SEMANTIC.match(value))

    return _judged(seen, lambda said: wants(_meta(said), "version", right, "a version as 1.0.0"))


@rule(
    "register.game-types",
    *MEMBERS,
    title='plays "even_odd"',
    section="003 3.3.2",
    fix='Give "game_types": ["even_odd"], a list.',
    gravity=Gravity.CRITICAL,
)
def plays_even_odd(seen: Seen) -> Verdict:
    def right(value: Json) -> bool:
        return isinstance(value, list) and "even_odd" in value

    return _judged(
        seen, lambda said: wants(_meta(said), "game_types", right, 'a list with "even_odd"')
    )


@rule(
    "register.contact-endpoint",
    *MEMBERS,
    title="gives the address at which it listens",
    section="003 3.3.2",
    fix="Give the http:// address of your /mcp as contact_endpoint, as others can reach it.",
    gravity=Gravity.CRITICAL,
)
def gives_its_address(seen: Seen) -> Verdict:
    def right(value: Json) -> bool:
        return is_text(value) and endpoint_problem(value) is None

    return _judged(
        seen, lambda said: wants(_meta(said), "contact_endpoint", right, "an http:// address")
    )


@rule(
    "register.id-used",
    *MEMBERS,
    title="goes by the id that the league gave it",
    section="003 3.4.4",
    fix="Keep the id from the registration's response, and send it in `sender` from then on.",
    recorded=("player-id-other",),
)
def goes_by_its_id(seen: Seen) -> Verdict:
    if seen.registration is None:
        return unjudged(seen.unregistered)
    senders = [(said, str(sent.get("sender"))) for said, sent in seen.own_words()]
    named = [(said, sender) for said, sender in senders if _SENDER.match(sender)]
    if not named:
        return unjudged(seen.stopped)
    wrong = [(said, name) for said, name in named if name.partition(":")[2] != seen.given_id]
    if not wrong:
        return KEPT
    said, name = wrong[0]
    return broken(f"sender: expected the id {seen.given_id!r}, got {name!r}", said)


@rule(
    "register.max-concurrent-matches",
    Role.REFEREE,
    title="says how many matches it can run at once, 1 to 10",
    section="003 3.1.2",
    fix='Give "max_concurrent_matches" in referee_meta, an integer from 1 to 10.',
    gravity=Gravity.MINOR,
)
def says_its_capacity(seen: Seen) -> Verdict:
    def right(value: Json) -> bool:
        return type(value) is int and value in range(1, 11)

    return _judged(
        seen, lambda said: wants(_meta(said), "max_concurrent_matches", right, "1 to 10")
    )
