"""The rules for every agent: HTTP, JSON-RPC, and surviving bad input."""

from collections.abc import Callable
from functools import partial

from agent_league.check.exchange import Exchange, Problem
from agent_league.check.judging import check_answered, check_refused
from agent_league.check.observations import Observations, Trial
from agent_league.check.rule import Case, Rule, rule
from agent_league.protocol import Role
from agent_league.protocol.requirements import Requirement, rules
from agent_league.protocol.requirements import any_agent as required

agent_rule = partial(rule, (Role.PLAYER, Role.REFEREE, Role.LEAGUE))


@agent_rule(
    required.JSON_OVER_HTTP, lambda observations: [x for x in observations.calls if not x.is_late]
)
def answers_with_json(exchange: Exchange) -> Problem:
    return exchange.problem()


def _select_framed(observations: Observations) -> list[Exchange]:
    """Return the answers to requests that had a frame."""
    return [
        exchange
        for exchange in observations.calls
        if exchange.frame is not None and "method" in exchange.request
    ]


@agent_rule(
    required.ANSWER_FRAME,
    _select_framed,
    recorded=(rules.REPLY_UNFRAMED, rules.REPLY_IN_PARAMS, rules.REPLY_ERROR_NULL),
)
def answers_in_a_frame(exchange: Exchange) -> Problem:
    if exchange.frame.get("jsonrpc") != "2.0":
        return f'jsonrpc: expected "2.0", got {exchange.frame.get("jsonrpc")!r}'
    if "result" not in exchange.frame and not exchange.error:
        return "there is neither a result nor an error"
    return None


def _select_with_id(observations: Observations) -> list[Exchange]:
    calls, string_id = _select_framed(observations), observations.string_id
    if string_id is not None and "method" in string_id.request:
        calls.append(string_id)
    return [call for call in calls if call.frame and "jsonrpc" in call.frame]


@agent_rule(rules.REPLY_ID, _select_with_id, id="frame.id")
def repeats_the_id(exchange: Exchange) -> Problem:
    sent_id, returned_id = exchange.request["id"], exchange.frame.get("id")
    if type(sent_id) is type(returned_id) and sent_id == returned_id:
        return None
    return f"id: expected {sent_id!r}, got {returned_id!r}"


def _select_first_call(observations: Observations) -> list[Case[bool]]:
    """Return the first call by the name of a tool, and whether it had to be sent otherwise."""
    if observations.rejected_tool_call is not None:
        return [Case(True, observations.rejected_tool_call)]
    return [Case(False, call) for call in observations.calls[:1] if not call.problem()]


@agent_rule(
    required.TOOL_NAME, _select_first_call, recorded=(rules.BARE_ONLY, rules.METHOD_INVENTED)
)
def knows_its_tools(rejected: bool) -> Problem:  # noqa: FBT001 - the one thing to judge
    return "it does not know the tool, but understands the message without it" if rejected else None


def _make_trial_rule(
    requirement: Requirement,
    name: str,
    find_problem: Callable[[Exchange], Problem],
    rule_id: str | None = None,
) -> Rule:
    """Return the rule about the answer to a trial, and that the agent still answers after it."""

    def select(observations: Observations) -> list[Case[Trial]]:
        trial = observations.trials.get(name)
        return [Case(trial, trial.bad)] if trial else []

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
missing_field = _make_trial_rule(required.MISSING_FIELD, "missing field", check_refused)
lower_case_type = _make_trial_rule(required.LOWER_CASE_TYPE, "wrong case", check_answered)
other_time_zone = _make_trial_rule(required.OTHER_TIME_ZONE, "non-utc time", check_answered)
huge_body = _make_trial_rule(required.HUGE_BODY, "huge body", lambda exchange: None)
