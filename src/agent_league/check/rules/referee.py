"""The rules for a referee's match up to the choices, and for matches with difficult players."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from agent_league.check.exchange import Exchange, Problem
from agent_league.check.judging import (
    check_in_time,
    equals,
    field,
    find_first_problem,
    find_refusal,
    is_utc,
    list_requests,
    select_series,
)
from agent_league.check.messages import FIRST_ROUND, GAME, LEAGUE_ID, PLAYERS
from agent_league.check.observations import Bout, RefereeObservations, ReplyForm
from agent_league.check.rule import Case, NotJudgedError, Select, rule
from agent_league.protocol import Role
from agent_league.protocol.fields import parse_time
from agent_league.protocol.requirements import referee as required
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

INVITATION, CALL, GAME_OVER = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"
ERROR = "GAME_ERROR"
ATTEMPTS = 3
referee_rule = partial(rule, (Role.REFEREE,))


def bouts(select: Callable[[RefereeObservations], Iterable[Bout]], *kinds: str) -> Select[Bout]:
    """Return the selection of whole matches; the last message of *kinds* is the proof."""
    return lambda observations: [
        Case(bout, bout.find_proof(*kinds), f"{bout.match_id}: ") for bout in select(observations)
    ]


def _select_orders(observations: RefereeObservations) -> list[Case[Exchange]]:
    """Return the first order: the one that was refused, if another form of it was taken."""
    if observations.order_detour is not None:
        refused, taken = observations.order_detour
        return [Case(refused, refused, f"it takes a match by {taken.describe_call()}, but: ")]
    return [Case(call, call) for call in observations.calls if not call.problem()]


takes_a_match = referee_rule(rules.ORDER_FORM, _select_orders, id="referee.start-match.taken")(
    find_refusal
)


def _select_timed_orders(observations: RefereeObservations) -> list[Case[Exchange]]:
    orders = [
        Case(bout.order, bout.order, f"{bout.match_id}: ")
        for bout in observations.matches
        if bout.order.is_late or not find_refusal(bout.order)
    ]
    if observations.calls and not orders:
        raise NotJudgedError("it takes no match")
    if "silent" not in observations.bouts and not any(case.proof.is_late for case in orders):
        raise NotJudgedError(f"no long match was played: {observations.stop_reason}")
    return orders


answers_at_once = referee_rule(required.START_IN_TIME, _select_timed_orders)(check_in_time)


def _select_conversations(
    observations: RefereeObservations,
) -> Iterable[Case[tuple[set[str], set[str]]]]:
    """Return the conversation_ids of each match, with those of the matches before it."""
    earlier: set[str] = set()
    for bout in observations.clear_matches:
        if invitations := bout.find_messages(INVITATION):
            messages = [*invitations, *bout.find_messages(CALL), *bout.find_messages(GAME_OVER)]
            ids = {str(found.message.get("conversation_id") or "") for found in messages}
            yield Case((ids, set(earlier)), invitations[0].exchange, f"{bout.match_id}: ")
            earlier |= ids


@referee_rule(required.CONVERSATION, _select_conversations)
def keeps_the_conversation(ids: tuple[set[str], set[str]]) -> Problem:
    own, earlier = ids
    if len(own) > 1 or "" in own:
        return f"expected one conversation_id, got {sorted(own)}"
    return "another match has the same conversation_id" if own & earlier else None


def _list_first_taken(observations: RefereeObservations) -> list[Bout]:
    bout = observations.bouts.get("win")
    if bout is None or find_refusal(bout.order):
        return []
    if not bout.find_messages(INVITATION) and not observations.seats_are_documented:
        raise NotJudgedError(
            "it invited nobody; it may know its players only at the ports 8101 and 8102, "
            "which were not free"
        )
    return [bout]


@referee_rule(required.INVITES_BOTH, bouts(_list_first_taken, INVITATION))
def invites_both(bout: Bout) -> Problem:
    missed = [PLAYERS[seat] for seat in (0, 1) if not bout.find_messages(INVITATION, seat)]
    return f"{' and '.join(missed)} got no GAME_INVITATION" if missed else None


@referee_rule(
    required.INVITATION_MATCH,
    lambda observations: list_requests(observations.list_sent(INVITATION)),
)
def invites_to_the_match(message: Json) -> Problem:
    expected = {"league_id": LEAGUE_ID, "round_id": FIRST_ROUND, "game_type": GAME}
    return find_first_problem(equals(*item)(message) for item in expected.items())


def _list_invited(observations: RefereeObservations) -> list[Bout]:
    return [bout for bout in observations.clear_matches if bout.reached_both(INVITATION)]


def _get_invitations(bout: Bout) -> list[Json]:
    return [bout.find_messages(INVITATION, seat)[0].message for seat in (0, 1)]


@referee_rule(required.INVITATION_ROLES, bouts(_list_invited, INVITATION))
def gives_roles(bout: Bout) -> Problem:
    roles = [invitation.get("role_in_match") for invitation in _get_invitations(bout)]
    right = sorted(map(str, roles)) == ["PLAYER_A", "PLAYER_B"]
    return None if right else f"role_in_match: got {roles}"


def _sent_to_seats(kind: str, ids: Sequence[str]) -> Select[tuple[str, Json]]:
    """Return the selection of messages of *kind*, each with the one of *ids* for its seat."""
    return lambda observations: [
        Case((ids[seat], received.message), received.exchange, f"{bout.match_id}: ")
        for bout in observations.matches
        for seat in (0, 1)
        for received in bout.find_messages(kind, seat)
    ]


@referee_rule(required.INVITATION_OPPONENT, _sent_to_seats(INVITATION, PLAYERS[::-1]))
def names_the_opponent(sent: tuple[str, Json]) -> Problem:
    return equals("opponent_id", sent[0])(sent[1])


def _select_read_replies(observations: RefereeObservations) -> list[Case[ReplyForm]]:
    """Return the first match, and the replies with which the referee went on."""
    form, stalled = observations.reply_form, observations.deaf_bout
    if stalled is not None:
        return [Case(form, stalled.find_proof(INVITATION))]
    called = [bout for bout in observations.matches if bout.find_messages(CALL)]
    return [Case(form, bout.order) for bout in called[:1]]


@referee_rule(required.REPLY_READ, _select_read_replies)
def reads_replies(form: ReplyForm) -> Problem:
    return None if form is ReplyForm.RIGHT else f"it goes on only if {form}"


@referee_rule(
    required.CALL_AFTER_JOINING,
    bouts(lambda o: [bout for bout in _list_invited(o) if bout.find_messages(CALL)], CALL),
)
def waits_for_both(bout: Bout) -> Problem:
    first_call = min(received.at for received in bout.find_messages(CALL))
    early = len(bout.join_times) < len(PLAYERS) or first_call < max(bout.join_times)
    return "a player was asked before both had joined" if early else None


def list_normal(observations: RefereeObservations) -> list[Bout]:
    """Return the matches that ended and in which both players behave."""
    found = [observations.bouts[name] for name in ("win", "draw") if name in observations.bouts]
    return [bout for bout in [*found, *observations.series] if bout.has_ended]


@referee_rule(
    required.CALLS_AT_ONCE,
    bouts(lambda o: [bout for bout in list_normal(o) if bout.reached_both(CALL)], CALL),
)
def asks_both_at_once(bout: Bout) -> Problem:
    return None if bout.asked_together else "one was asked only when the other had answered"


@referee_rule(required.CALL_PLAYER, _sent_to_seats(CALL, PLAYERS))
def asks_by_id(sent: tuple[str, Json]) -> Problem:
    return equals("player_id", sent[0])(sent[1])


@referee_rule(required.CALL_DEADLINE, lambda o: list_requests(o.list_sent(CALL)))
def gives_a_deadline(message: Json) -> Problem:
    problem = field("deadline", is_utc, "ISO 8601 in UTC")(message)
    timestamp = message.get("timestamp")
    if problem or not is_utc(timestamp):
        return problem
    past = parse_time(message["deadline"]) <= parse_time(timestamp)
    return f"deadline: {message['deadline']} is not after {timestamp}" if past else None


def _special(name: str) -> Callable[[RefereeObservations], list[Bout]]:
    """Return the selection of one special match, if its second player was invited."""

    def select(observations: RefereeObservations) -> list[Bout]:
        found = observations.bouts.get(name)
        return [found] if found and found.find_messages(INVITATION, 1) else []

    return select


def _list_errors(bout: Bout) -> list[Json]:
    return [received.message for received in bout.find_messages(ERROR, 1)]


@referee_rule(required.INVALID_CHOICE, bouts(_special("wrong case"), CALL, ERROR))
def reports_an_invalid_choice(bout: Bout) -> Problem:
    codes = [error.get("error_code") for error in _list_errors(bout)]
    return None if "E004" in codes else f"{_describe_errors(codes)}; expected E004"


def _describe_errors(codes: Sequence[Json]) -> str:
    if not codes:
        return "the player got no GAME_ERROR"
    return f"the player got GAME_ERROR {', '.join(map(str, codes))}"


def _list_correctable(observations: RefereeObservations) -> list[Bout]:
    if observations.reply_form is ReplyForm.ELSEWHERE:
        raise NotJudgedError("it does not read replies from the result: referee.reply.read")
    return _special("wrong case")(observations)


@referee_rule(required.SECOND_CHANCE, bouts(_list_correctable, CALL, ERROR))
def gives_a_second_chance(bout: Bout) -> Problem:
    call_count, status = len(bout.find_messages(CALL, 1)), bout.result().get("status")
    if call_count > 1 and status in {"WIN", "DRAW", "LOSS"}:
        return None
    times = "once" if call_count == 1 else f"{call_count} times"
    end = f"the match ended {status}" if status else "no GAME_OVER with a status came"
    return f"it asked {times}, and {end}"


def _check_second_lost(bout: Bout) -> Problem:
    if not bout.find_messages(GAME_OVER):
        return "no GAME_OVER came"
    actual = (bout.result().get("status"), bout.result().get("winner_player_id"))
    expected = ("TECHNICAL_LOSS", PLAYERS[0])
    return None if actual == expected else f"expected {expected}, got {actual}"


ends_a_declined_match = referee_rule(required.DECLINED, bouts(_special("declined"), GAME_OVER))(
    _check_second_lost
)
ends_a_silent_match = referee_rule(required.SILENT_LOSES, bouts(_special("silent"), GAME_OVER))(
    _check_second_lost
)


def _list_given_up(observations: RefereeObservations) -> list[Bout]:
    """Return the match with the silent player, if the referee has ended it."""
    silent = _special("silent")(observations)
    if silent and not silent[0].find_messages(GAME_OVER):
        raise NotJudgedError("it had not ended the match when the check stopped waiting")
    return silent


@referee_rule(required.THREE_ATTEMPTS, bouts(_list_given_up, INVITATION, ERROR))
def tries_three_times(bout: Bout) -> Problem:
    attempts = len(bout.find_messages(INVITATION, 1))
    return None if attempts == ATTEMPTS else f"it was invited {attempts} times, not {ATTEMPTS}"


@referee_rule(required.SILENT_WARNED, bouts(_special("silent"), INVITATION, ERROR))
def warns_the_silent(bout: Bout) -> Problem:
    errors = _list_errors(bout)
    warned = any(e.get("error_code") == "E001" and e.get("retry_info") for e in errors)
    codes = [error.get("error_code") for error in errors]
    return None if warned else f"{_describe_errors(codes)}; expected E001 with retry_info"


@referee_rule(required.PLAYED_ONCE, bouts(_special("twice"), INVITATION))
def plays_once(bout: Bout) -> Problem:
    repeated = bout.find_repeated()
    return f"a player got {repeated[0]} {repeated[1]} times" if repeated else None


@referee_rule(required.UNKNOWN_GAME, lambda o: [o.unknown_game])
def refuses_an_unknown_game(order: Exchange) -> Problem:
    return order.problem() or (None if find_refusal(order) else "it took a match of quidditch")


def _list_concurrent(observations: RefereeObservations) -> list[Bout]:
    if not observations.concurrent and observations.series:
        raise NotJudgedError("it does not say that it runs more than one")
    return observations.concurrent


@referee_rule(required.CONCURRENT_MATCHES, bouts(_list_concurrent))
def runs_concurrent_matches(bout: Bout) -> Problem:
    return find_refusal(bout.order) or (None if bout.has_ended else "the match did not end")


@referee_rule(required.CONSECUTIVE_MATCHES, select_series("match"))
def runs_consecutive_matches(bout: Bout) -> Problem:
    if bout.has_ended:
        return None
    return find_refusal(bout.order) or "the match did not end"
