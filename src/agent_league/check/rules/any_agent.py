"""The rules for every agent: HTTP, JSON-RPC, and surviving bad input."""

from collections.abc import Callable, Iterator
from functools import partial

from agent_league.check.exchange import Exchange, Problem
from agent_league.check.judging import check_answered, check_refused
from agent_league.check.observations import Observations, RefereeObservations, Trial
from agent_league.check.rule import Case, NotJudgedError, Rule, rule
from agent_league.protocol import Role
from agent_league.protocol.requirements import Requirement, rules
from agent_league.protocol.requirements import any_agent as required

agent_rule = partial(rule, (Role.PLAYER, Role.REFEREE, Role.LEAGUE))


def _select_answers(observations: Observations) -> list[Exchange]:
    """Return the answers to the first requests, or the one that says that nothing is served."""
    if observations.nothing_served is not None:
        return [observations.nothing_served]
    return [exchange for exchange in observations.calls if not exchange.is_late]


@agent_rule(required.JSON_OVER_HTTP, _select_answers)
def answers_with_json(exchange: Exchange) -> Problem:
    if exchange.serves_nothing and exchange.answer:
        return f"nothing serves POST {exchange.url} (HTTP {exchange.answer.status})"
    return exchange.problem()


def _select_framed(observations: Observations) -> list[Exchange]:
    """Return the answers to requests that had a frame."""
    return [
        exchange
        for exchange in observations.list_answered()
        if exchange.frame is not None and "method" in exchange.request
    ]


def _select_frames(observations: Observations) -> Iterator[Exchange]:
    """Yield the framed answers; errors alone do not show that the others are right."""
    framed = _select_framed(observations)
    yield from framed
    if framed and all(exchange.error for exchange in framed):
        raise NotJudgedError("it answered with errors only, and they are right")


@agent_rule(
    required.ANSWER_FRAME,
    _select_frames,
    recorded=(rules.REPLY_UNFRAMED, rules.REPLY_IN_PARAMS, rules.REPLY_ERROR_NULL),
)
def answers_in_a_frame(exchange: Exchange) -> Problem:
    frame = exchange.frame
    if frame.get("jsonrpc") != "2.0":
        return f'jsonrpc: expected "2.0", got {frame.get("jsonrpc")!r}'
    if "result" not in frame and not exchange.error:
        where = ": the message is in params" if "params" in frame else ""
        return f"there is neither a result nor an error{where}"
    if "result" in frame and "error" in frame:
        return 'there are both "result" and "error": JSON-RPC 2.0 allows one of them'
    return None


def _select_with_id(observations: Observations) -> list[Exchange]:
    calls = _select_framed(observations)
    return [call for call in calls if call.frame and "jsonrpc" in call.frame]


@agent_rule(rules.REPLY_ID, _select_with_id, id="frame.id")
def repeats_the_id(exchange: Exchange) -> Problem:
    sent_id, returned_id = exchange.request["id"], exchange.frame.get("id")
    if type(sent_id) is type(returned_id) and sent_id == returned_id:
        return None
    return f"id: expected {sent_id!r}, got {returned_id!r}"


def _select_calls_by_tool(observations: Observations) -> list[Case[Exchange | None]]:
    """Return the calls by the name of a tool of the documents, with the call that works instead."""
    misnamed = [pair for pair in observations.misnamed if pair[0].called in required.TOOL_NAMES]
    taken = [call for call in observations.tool_calls if call.called in required.TOOL_NAMES]
    if not misnamed and not taken:
        raise NotJudgedError(_explain_silence(observations, "it understood no call by any name"))
    return [
        *(Case[Exchange | None](other, refused) for refused, other in misnamed),
        *(Case[Exchange | None](None, call) for call in taken),
    ]


def _explain_silence(observations: Observations, reason: str) -> str:
    """Say why nothing was understood; *reason* if no other rule says it."""
    if observations.nothing_served:
        return observations.stop_reason
    if _has_own_orders(observations):
        return "it takes orders in a form of its own: referee.start-match.taken"
    return reason


def _has_own_orders(observations: Observations) -> bool:
    """Whether a referee takes orders, but not as START_MATCH."""
    return isinstance(observations, RefereeObservations) and observations.order_detour is not None


@agent_rule(
    required.TOOL_NAME, _select_calls_by_tool, recorded=(rules.BARE_ONLY, rules.METHOD_INVENTED)
)
def knows_its_tools(other: Exchange | None) -> Problem:
    if other is None:
        return None
    return f"it does not understand the call, but it understands {other.describe_call()}"


def _select_right_messages(observations: Observations) -> list[Case[tuple[Exchange, Exchange]]]:
    """Return the right messages that were refused, with the wording that was taken."""
    answered = [] if _has_own_orders(observations) else observations.list_answered()
    known = [*observations.tool_calls, *answered]
    understood = [x for x in known if x.answer and _is_telling(x) and not x.is_refusal]
    if not observations.reworded and not understood:
        reason = "it took no message with this sender or a round_id"
        raise NotJudgedError(_explain_silence(observations, reason))
    return [
        *(Case((refused, other), refused) for refused, other in observations.reworded),
        *(Case((call, call), call) for call in understood[:1]),
    ]


def _is_telling(call: Exchange) -> bool:
    """Whether the message has a sender or a round_id that some agents refuse."""
    message = call.request_message
    return message.get("sender") == Role.LEAGUE or type(message.get("round_id")) is int


@agent_rule(required.RIGHT_MESSAGE, _select_right_messages, recorded=(rules.RIGHT_REFUSED,))
def takes_right_messages(pair: tuple[Exchange, Exchange]) -> Problem:
    right, other = (exchange.request_message for exchange in pair)
    if right == other:
        return None
    changed = [key for key in other if right.get(key) != other[key]]
    texts = [f"{key} {other[key]!r:.40}" for key in changed if isinstance(other[key], str)]
    others = ", ".join(key for key in changed if not isinstance(other[key], str))
    shown = " and ".join([*texts, *([f"more in {others}"] if others else [])]) or "fewer fields"
    return f"it refuses this {right.get('message_type')}, but takes it with {shown}"


def _make_trial_rule(
    requirement: Requirement,
    name: str,
    find_problem: Callable[[Exchange], Problem],
    rule_id: str | None = None,
    *,
    compares: bool = False,
) -> Rule:
    """Return the rule about the answer to a trial, and that the agent still answers after it.

    A rule that *compares* says nothing about an agent that refuses the right message too.
    """

    def select(observations: Observations) -> list[Case[Trial]]:
        trial = observations.trials.get(name)
        if trial is None:
            return []
        if compares and not trial.right_is_taken and not find_problem(trial.bad):
            why = trial.right.refusal_text() or trial.right.problem()
            raise NotJudgedError(f"it does not take the right message either: {why}"[:160])
        return [Case(trial, trial.bad)]

    @agent_rule(requirement, select, id=rule_id)
    def survives(trial: Trial) -> Problem:
        return find_problem(trial.bad) or _check_still_answers(trial)

    return survives


def _check_still_answers(trial: Trial) -> Problem:
    if trial.bad.is_late:
        return f"it did not answer within {trial.bad.time_limit:g} s"
    problem = trial.after.problem()
    return f"after that it no longer answered a valid request: {problem}" if problem else None


unknown_method = _make_trial_rule(
    rules.OK_TO_UNKNOWN, "unknown method", check_refused, "frame.unknown-method"
)
broken_json = _make_trial_rule(required.BROKEN_JSON, "broken json", check_refused)
missing_field = _make_trial_rule(
    required.MISSING_FIELD, "missing field", check_refused, compares=True
)
lower_case_type = _make_trial_rule(
    required.LOWER_CASE_TYPE, "wrong case", check_answered, compares=True
)
other_time_zone = _make_trial_rule(
    required.OTHER_TIME_ZONE, "non-utc time", check_answered, compares=True
)
huge_body = _make_trial_rule(required.HUGE_BODY, "huge body", lambda exchange: None)
