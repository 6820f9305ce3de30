"""The rules for a league manager: queries, registrations, results, and what it announces."""

import re
from collections.abc import Callable
from functools import partial

from agent_league.check.exchange import Exchange, Problem
from agent_league.check.judging import (
    check_accepted,
    equals,
    field,
    find_first_problem,
    is_text,
    list_requests,
    matches,
)
from agent_league.check.observations import ManagerObservations
from agent_league.check.rule import Case, NotJudgedError, Rule, Select, rule
from agent_league.protocol import Role
from agent_league.protocol.requirements import Requirement
from agent_league.protocol.requirements import manager as required
from agent_league.protocol.requirements.rules import REGISTER_STATUS, REPLY_WRAPPED
from agent_league.vocabulary import Json

is_id = matches(r"(P|REF)\d{2,}")
manager_rule = partial(rule, (Role.LEAGUE,))


def _is_negative(exchange: Exchange) -> bool:
    """Whether the answer refuses the request, in any form that the protocol allows."""
    rejected = str(exchange.get("status")).upper() == "REJECTED"
    return exchange.is_refusal or rejected or exchange.get("success") is False


def _require_code(code: str) -> Callable[[Exchange], Problem]:
    """Return the judgement that the answer is a refusal with *code*."""

    def find_problem(exchange: Exchange) -> Problem:
        if not _is_negative(exchange):
            return exchange.problem() or "it answered as if nothing were wrong"
        actual = exchange.error_code()
        said = f" ({exchange.refusal_text()[:120]})" if exchange.is_refusal else ""
        return None if actual == code else f"error_code: expected {code}, got {actual!r}{said}"

    return find_problem


@manager_rule(
    required.QUERY_KNOWN,
    lambda o: [Case(o.knows_queries, call) for call in o.calls if call.answer],
)
def knows_queries(is_known: bool) -> Problem:  # noqa: FBT001 - the one thing to judge
    return None if is_known else "it does not know LEAGUE_QUERY, by any name"


def _require_queries(observations: ManagerObservations) -> None:
    if not observations.knows_queries:
        raise NotJudgedError("it does not know LEAGUE_QUERY")


def _queries(*names: str) -> Select[Exchange]:
    """Return the selection of the queries that the check made under *names*."""

    def select(observations: ManagerObservations) -> list[Exchange | None]:
        _require_queries(observations)
        return [observations.requests.get(name) for name in names]

    return select


def _is_refused_otherwise(exchange: Exchange, code: str) -> bool:
    return _is_negative(exchange) and exchange.error_code() != code


def _token_queries(name: str, code: str) -> Select[Exchange]:
    """Return the selection of a query with a wrong token, by a registered player if possible."""

    def select(observations: ManagerObservations) -> list[Exchange | None]:
        _require_queries(observations)
        registered = observations.requests.get(name)
        anonymous = observations.requests.get(f"anonymous {name}")
        if registered is None and anonymous and _is_refused_otherwise(anonymous, code):
            raise NotJudgedError("it knows no sender of the check yet: --allow-registration")
        return [registered or anonymous]

    return select


requires_a_token = manager_rule(required.TOKEN_MISSING, _token_queries("no token", "E011"))(
    _require_code("E011")
)
rejects_a_false_token = manager_rule(required.TOKEN_FALSE, _token_queries("false token", "E012"))(
    _require_code("E012")
)


def _wrong_registrations(*names: str) -> Select[Exchange]:
    """Return the selection of wrong registrations at a league that accepts right ones."""

    def select(observations: ManagerObservations) -> list[Exchange | None]:
        found = [observations.requests.get(name) for name in names]
        if any(found) and not any(map(_is_accepted, observations.registrations)):
            raise NotJudgedError("it accepts no valid registration either")
        return found

    return select


checks_registrations = manager_rule(
    required.REGISTRATION_FIELDS, _wrong_registrations("no endpoint")
)(_require_code("E003"))


def _check_rejected(exchange: Exchange) -> Problem:
    if not _is_negative(exchange):
        return exchange.problem() or "it accepted the player"
    if exchange.get("status") == "REJECTED" and not is_text(exchange.get("reason")):
        return "reason: a rejection has to say why"
    return None


rejects_an_unknown_game = manager_rule(
    required.REGISTRATION_GAME, _wrong_registrations("unknown game")
)(_check_rejected)
rejects_an_old_version = manager_rule(
    required.REGISTRATION_VERSION, _wrong_registrations("old version")
)(_check_rejected)


def _is_accepted(exchange: Exchange) -> bool:
    """Whether a registration was accepted, in whatever words."""
    ids = ("player_id", "referee_id", "agent_id")
    return not _is_negative(exchange) and any(exchange.get(key) for key in ids)


def _select_entrants(observations: ManagerObservations) -> list[Exchange]:
    """Return the valid registrations, except those that were rejected with a reason."""
    return [
        exchange
        for exchange in observations.registrations
        if exchange.get("status") != "REJECTED" or _check_rejected(exchange)
    ]


@manager_rule(REGISTER_STATUS, _select_entrants, id="manager.register.accepted")
def accepts_registrations(exchange: Exchange) -> Problem:
    if exchange.is_refusal:
        return f"it answered with an error: {exchange.refusal_text()[:200]}"
    if exchange.found and exchange.found.rule is REPLY_WRAPPED and not exchange.is_tool_call:
        return "the answer is inside result, not result itself"
    if exchange.get("status") != "ACCEPTED":
        return f'status: expected "ACCEPTED", got {exchange.get("status")!r}'
    expected = exchange.request_message["message_type"].replace("REQUEST", "RESPONSE")
    return equals("message_type", expected)(exchange.message)


def _list_accepted(observations: ManagerObservations) -> list[Exchange]:
    return [exchange for exchange in observations.registrations if _is_accepted(exchange)]


def _accepted(*keys: str) -> Select[tuple[Json, bool]]:
    """Return the selection of what each agent got under one of *keys*, and whether only it did."""

    def select(observations: ManagerObservations) -> list[Case[tuple[Json, bool]]]:
        accepted = _list_accepted(observations)
        values = [next(filter(None, map(exchange.get, keys)), None) for exchange in accepted]
        return [
            Case((value, values.count(value) == 1), exchange)
            for value, exchange in zip(values, accepted, strict=True)
        ]

    return select


@manager_rule(required.OWN_ID, _accepted("player_id", "referee_id"))
def gives_ids(given: tuple[Json, bool]) -> Problem:
    agent_id, unique = given
    if not is_id(agent_id):
        return f"id: expected P01 or REF01, got {agent_id!r}"
    return None if unique else f"{agent_id} was given twice"


@manager_rule(required.OWN_TOKEN, _accepted("auth_token"))
def gives_tokens(given: tuple[Json, bool]) -> Problem:
    token, unique = given
    problem = field("auth_token", is_text, "a token")({"auth_token": token})
    return problem or (None if unique else "auth_token: two agents have the same one")


def _make_query_rule(query_type: str, requirement: Requirement) -> Rule:
    checks = (
        equals("query_type", query_type),
        equals("success", True),
        field("data", lambda value: isinstance(value, dict), "an object"),
    )

    @manager_rule(requirement, _queries(query_type))
    def answers_the_query(exchange: Exchange) -> Problem:
        message = exchange.message
        if message is None or exchange.is_refusal:
            said = f"it answered with an error: {exchange.refusal_text()[:160]}"
            return said if exchange.is_refusal else exchange.problem()
        if message.get("success") is False and query_type == "GET_NEXT_MATCH":
            return None  # before the schedule is drawn there may be none
        return find_first_problem(check(message) for check in checks)

    return answers_the_query


query_rules = tuple(_make_query_rule(*item) for item in required.QUERIES.items())


def _select_nobody(observations: ManagerObservations) -> list[Exchange | None]:
    """Return the query about nobody, if the same query about a player is answered."""
    _require_queries(observations)
    known = observations.requests.get("GET_PLAYER_STATS")
    if known is not None and _is_negative(known):
        raise NotJudgedError("it does not answer GET_PLAYER_STATS about a player either")
    return [observations.requests.get("nobody")]


rejects_an_unknown_player = manager_rule(required.QUERY_NOBODY, _select_nobody)(
    _require_code("E005")
)


_ABOUT_TOKEN = re.compile(r"E011|E012|token|auth|unauthori[sz]ed|forbidden", re.IGNORECASE)


def _select_forged(observations: ManagerObservations) -> list[Exchange | None]:
    forged = observations.requests.get("forged report")
    if forged is None or not _is_negative(forged):
        return [forged]
    about_token = _ABOUT_TOKEN.search(f"{forged.error_code()} {forged.refusal_text()}")
    if not about_token and not any(check_accepted(x) is None for x in observations.reports):
        raise NotJudgedError(f"it refused it for another reason: {forged.refusal_text()[:120]}")
    return [forged]


@manager_rule(required.FORGED_REPORT, _select_forged)
def rejects_a_forged_report(exchange: Exchange) -> Problem:
    if _is_negative(exchange):
        return None
    return exchange.problem() or "it accepted a result with a false token"


accepts_a_report = manager_rule(
    required.REPORT_TAKEN, lambda o: o.reports if _list_accepted(o) else []
)(check_accepted)


def _notices(kind: str) -> Select[Json]:
    return lambda observations: list_requests(observations.find_notices(kind))


def _get_rows(message: Json, key: str) -> list[Json]:
    rows = message.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


@manager_rule(required.ANNOUNCED_MATCHES, _notices("ROUND_ANNOUNCEMENT"))
def announces_matches(message: Json) -> Problem:
    keys = ("match_id", "game_type", "player_A_id", "player_B_id", "referee_endpoint")
    announced = _get_rows(message, "matches")
    if not announced:
        return "matches: expected at least one"
    return find_first_problem(
        field(key, is_text, "text")(match) for match in announced for key in keys
    )


@manager_rule(required.FAIR_ROUND, _notices("ROUND_ANNOUNCEMENT"))
def draws_fairly(message: Json) -> Problem:
    keys = ("player_A_id", "player_B_id")
    playing = [match.get(key) for match in _get_rows(message, "matches") for key in keys]
    known = [player for player in playing if player]
    if not known:
        raise NotJudgedError("its rounds name no players: manager.round-announcement.matches")
    return None if len(set(known)) == len(known) else f"the round has {known}"


@manager_rule(
    required.STANDINGS_SENT,
    lambda observations: [
        Case(bool(observations.find_notices("LEAGUE_STANDINGS_UPDATE")), report)
        for report in observations.reports[:1]
    ],
)
def sends_the_standings(were_sent: bool) -> Problem:  # noqa: FBT001 - the one thing to judge
    return None if were_sent else "no LEAGUE_STANDINGS_UPDATE came after the result"


@manager_rule(required.STANDINGS_ARITHMETIC, _notices("LEAGUE_STANDINGS_UPDATE"))
def adds_up(message: Json) -> Problem:
    rows = _get_rows(message, "standings")
    if not rows:
        return "standings: expected every registered player, got none"
    ranks = [row.get("rank") for row in rows]
    unsorted = all(isinstance(rank, int) for rank in ranks) and ranks != sorted(ranks)
    problem = find_first_problem(map(_check_row, rows))
    return problem or (f"the ranks come as {ranks}" if unsorted else None)


def _check_row(row: Json) -> Problem:
    keys = ("rank", "played", "wins", "draws", "losses", "points")
    is_integer = (field(key, lambda value: type(value) is int, "an integer") for key in keys)
    problem = find_first_problem(check(row) for check in is_integer)
    if problem:
        return problem
    wins, draws, losses = (row[key] for key in ("wins", "draws", "losses"))
    if row["played"] != wins + draws + losses or row["points"] != 3 * wins + draws:
        return f"the row does not add up: {row!r:.150}"
    return None


@manager_rule(required.ROUND_SUMMARY, _notices("ROUND_COMPLETED"))
def sums_up(message: Json) -> Problem:
    summary = message.get("summary")
    if not isinstance(summary, dict):
        return "summary is missing; expected an object"
    counts: list[Json] = [summary.get(key) for key in ("wins", "draws", "technical_losses")]
    if not all(type(count) is int for count in [*counts, summary.get("total_matches")]):
        return f"summary: expected integers, got {summary!r:.120}"
    right = sum(counts) == summary["total_matches"]
    return None if right else f"summary: {counts} do not add up to the total"


@manager_rule(required.CHAMPION, _notices("LEAGUE_COMPLETED"))
def names_the_champion(message: Json) -> Problem:
    rows, champion = _get_rows(message, "final_standings"), message.get("champion")
    first_id = rows[0].get("player_id") if rows else None
    champion_id = champion.get("player_id") if isinstance(champion, dict) else None
    if first_id is None or champion_id != first_id:
        return f"champion: {champion_id!r}, but the final standings begin with {first_id!r}"
    return None
