"""The rules of a league manager: what it answers, whom it lets in, what it tells everybody."""

import re
from collections.abc import Callable

from agent_league.check.exchange import Complaint, Exchange
from agent_league.check.judging import is_text, is_utc, judged, taken, wants
from agent_league.check.letters import QUERIES
from agent_league.check.rule import KEPT, Gravity, Rule, Verdict, broken, rule, unjudged
from agent_league.check.seen import ManagerSeen
from agent_league.protocol import Role
from agent_league.vocabulary import Json

MANAGER = Role.LEAGUE
_ID = re.compile(r"(P|REF)\d{2,}")
_MANAGER = re.compile(r"league_manager(:.+)?")


def _asked(seen: ManagerSeen, name: str, complain: Callable[[Exchange], Complaint]) -> Verdict:
    said = seen.asked.get(name)
    if said is None:
        return unjudged(seen.unentered)
    wrong = complain(said)
    return broken(wrong, said) if wrong else KEPT


def _of_words(seen: ManagerSeen, complain: Callable[[Json], Complaint]) -> Verdict:
    """Judge everything that it said of its own."""
    words = seen.own_words()
    if not words:
        return unjudged(seen.unentered)
    for said, message in words:
        wrong = complain(message)
        if wrong:
            return broken(wrong, said)
    return KEPT


@rule(
    "manager.envelope.protocol",
    MANAGER,
    title='names the protocol in all it says: "league.v2"',
    section="002 2.4.1",
    fix='Set "protocol": "league.v2" in every message, replies too.',
    gravity=Gravity.CRITICAL,
)
def names_the_protocol(seen: ManagerSeen) -> Verdict:
    return _of_words(
        seen,
        lambda said: wants(said, "protocol", lambda value: value == "league.v2", '"league.v2"'),
    )


@rule(
    "manager.envelope.sender",
    MANAGER,
    title='says who it is: "sender" is "league_manager"',
    section="002 2.4.4",
    fix='Set "sender": "league_manager" in every message.',
)
def says_who_it_is(seen: ManagerSeen) -> Verdict:
    def right(value: Json) -> bool:
        return is_text(value) and bool(_MANAGER.fullmatch(value))

    return _of_words(seen, lambda said: wants(said, "sender", right, '"league_manager"'))


@rule(
    "manager.envelope.timestamp",
    MANAGER,
    title="dates all it says in UTC",
    section="003 10.4",
    fix='Write "timestamp" as 2025-01-15T10:30:00Z, in UTC, with the Z.',
)
def dates_in_utc(seen: ManagerSeen) -> Verdict:
    return _of_words(seen, lambda said: wants(said, "timestamp", is_utc, "ISO 8601 in UTC"))


def _refused_with(code: str) -> Callable[[Exchange], Complaint]:
    def problem(said: Exchange) -> Complaint:
        if not _no(said):
            return said.problem() or "it answered as if nothing were wrong"
        came = _code(said)
        return None if came == code else f"error_code: expected {code}, got {came!r}"

    return problem


def _no(said: Exchange) -> bool:
    """Whether the answer is a no, in any of the ways in which the protocol says it."""
    message = said.message or {}
    return said.refused or message.get("success") is False or message.get("status") == "REJECTED"


def _code(said: Exchange) -> Json:
    inner = (said.message or {}).get("error")
    return inner.get("error_code") if isinstance(inner, dict) else said.error_code()


@rule(
    "manager.token.missing",
    MANAGER,
    title="answers a query without auth_token with E011",
    section="003 9.1.3",
    fix="Answer AUTH_TOKEN_MISSING (E011) in error.data to what comes without a token.",
)
def wants_a_token(seen: ManagerSeen) -> Verdict:
    readable = [said for said in seen.calls if said.problem() is None]
    return judged(seen, readable, _refused_with("E011"))


@rule(
    "manager.token.false",
    MANAGER,
    title="answers a query with a false auth_token with E012",
    section="003 9.1.3",
    fix="Answer AUTH_TOKEN_INVALID (E012) in error.data to a token that you did not give.",
)
def knows_its_tokens(seen: ManagerSeen) -> Verdict:
    return _asked(seen, "false token", _refused_with("E012"))


@rule(
    "manager.register.missing-field",
    MANAGER,
    title="lets nobody in without a display_name or contact_endpoint (E003)",
    section="003 10.5",
    fix="Check every required field of player_meta; refuse with E003 MISSING_REQUIRED_FIELD.",
)
def checks_registrations(seen: ManagerSeen) -> Verdict:
    lacking = [seen.asked[name] for name in ("no name", "no endpoint") if name in seen.asked]
    if not lacking:
        return unjudged(seen.unentered)
    return judged(seen, lacking, _refused_with("E003"))


@rule(
    "manager.register.unknown-game",
    MANAGER,
    title="lets nobody in who cannot play its game",
    section="003 3.4.3",
    fix='Answer "status": "REJECTED", "player_id": null and the reason "Unsupported game type".',
)
def wants_its_game(seen: ManagerSeen) -> Verdict:
    return _asked(seen, "unknown game", _rejected)


def _rejected(said: Exchange) -> Complaint:
    if not _no(said):
        return said.problem() or "it let the player in"
    message = said.message or {}
    if message.get("status") == "REJECTED" and not is_text(message.get("reason")):
        return "reason: a rejection has to say why"
    return None


@rule(
    "manager.register.old-version",
    MANAGER,
    title="lets nobody in who speaks an older protocol than 2.0.0",
    section="002 2.10.2",
    fix="Compare player_meta.protocol_version; reject what is below 2.0.0 (E018).",
)
def wants_its_version(seen: ManagerSeen) -> Verdict:
    return _asked(seen, "old version", _rejected)


def _applied(seen: ManagerSeen) -> list[Exchange]:
    names = [name for name in seen.asked if name == "referee" or name.startswith("player ")]
    return [seen.asked[name] for name in names]


@rule(
    "manager.register.accepted",
    MANAGER,
    title="lets a right referee and right players in",
    section="003 3.4.2",
    fix='Answer with REFEREE_REGISTER_RESPONSE or LEAGUE_REGISTER_RESPONSE, "status": "ACCEPTED".',
    recorded=("register-status",),
)
def lets_them_in(seen: ManagerSeen) -> Verdict:
    def problem(said: Exchange) -> Complaint:
        message = said.message or {}
        if message.get("status") != "ACCEPTED":
            return f'status: expected "ACCEPTED", got {message.get("status")!r}'
        asked = said.asked["message_type"].replace("REQUEST", "RESPONSE")
        return wants(message, "message_type", lambda value: value == asked, f'"{asked}"')

    applied = _applied(seen)
    return _of_entrants(
        seen, [said for said in applied if not _rejected_with_reason(said)], problem
    )


def _rejected_with_reason(said: Exchange) -> bool:
    message = said.message or {}
    return message.get("status") == "REJECTED" and is_text(message.get("reason"))


def _of_entrants(
    seen: ManagerSeen, exchanges: list[Exchange], complain: Callable[[Exchange], Complaint]
) -> Verdict:
    return judged(seen, exchanges, complain) if exchanges else unjudged(seen.unentered)


def _inside(seen: ManagerSeen) -> list[Exchange]:
    found = _applied(seen)
    return [said for said in found if (said.message or {}).get("status") == "ACCEPTED"]


@rule(
    "manager.register.id",
    MANAGER,
    title="gives each its own id: REF01, P01, P02",
    section="003 3.4.2",
    fix='Give "referee_id" as REF and two digits, "player_id" as P and two digits, each once.',
)
def gives_ids(seen: ManagerSeen) -> Verdict:
    def given(said: Exchange) -> str:
        return str(said.message.get("player_id") or said.message.get("referee_id"))

    inside = _inside(seen)
    ids = [given(said) for said in inside]

    def problem(said: Exchange) -> Complaint:
        if not _ID.fullmatch(given(said)):
            return f"id: expected P01 or REF01, got {given(said)!r}"
        return f"{given(said)} was given twice" if ids.count(given(said)) > 1 else None

    return _of_entrants(seen, inside, problem)


@rule(
    "manager.register.token",
    MANAGER,
    title="gives each an auth_token of its own",
    section="002 2.4.5",
    fix='Send a new "auth_token" with each ACCEPTED registration.',
)
def gives_tokens(seen: ManagerSeen) -> Verdict:
    inside = _inside(seen)
    given = [str(said.message.get("auth_token")) for said in inside]

    def problem(said: Exchange) -> Complaint:
        wrong = wants(said.message, "auth_token", is_text, "a token")
        same = given.count(str(said.message.get("auth_token"))) > 1
        return wrong or ("auth_token: two agents have the same one" if same else None)

    return _of_entrants(seen, inside, problem)


def _query(query_type: str) -> Rule:
    @rule(
        f"manager.query.{query_type.lower().replace('_', '-')}",
        MANAGER,
        title=f"answers {query_type} of a player it let in",
        section="003 8.2.2",
        fix='Answer LEAGUE_QUERY_RESPONSE with the same query_type, "success": true and "data".',
    )
    def answers_the_query(seen: ManagerSeen) -> Verdict:
        def problem(said: Exchange) -> Complaint:
            message = said.message
            if message is None or said.refused:
                return said.problem() or "it answered with an error"
            if message.get("success") is False and query_type == "GET_NEXT_MATCH":
                return None  # before the schedule is drawn there may be none
            return (
                wants(message, "query_type", lambda value: value == query_type, query_type)
                or wants(message, "success", lambda value: value is True, "true")
                or wants(message, "data", lambda value: isinstance(value, dict), "an object")
            )

        return _asked(seen, query_type, problem)

    return answers_the_query


query_standings, query_schedule, query_next_match, query_stats = map(_query, QUERIES)


@rule(
    "manager.query.nobody",
    MANAGER,
    title="answers a query about a player that is not there with E005",
    section="003 8.2.2",
    fix='Answer "success": false with error.error_code E005 PLAYER_NOT_REGISTERED.',
)
def knows_its_players(seen: ManagerSeen) -> Verdict:
    return _asked(seen, "nobody", _refused_with("E005"))


@rule(
    "manager.report.forged",
    MANAGER,
    title="takes no result from somebody without a token",
    section="002 2.4.5",
    fix="Take MATCH_RESULT_REPORT only with the token of a referee (E012 otherwise).",
    gravity=Gravity.CRITICAL,
)
def takes_no_forgery(seen: ManagerSeen) -> Verdict:
    def problem(said: Exchange) -> Complaint:
        return None if _no(said) else said.problem() or "it took a result with a false token"

    return _asked(seen, "forged report", problem)


@rule(
    "manager.report.taken",
    MANAGER,
    title="takes the result of a match from its referee",
    section="003 7.1",
    fix='Acknowledge MATCH_RESULT_REPORT with a result such as {"status": "ok"}.',
)
def takes_a_result(seen: ManagerSeen) -> Verdict:
    if not _inside(seen):
        return unjudged(seen.unentered)
    return judged(seen, seen.reports, taken)
