"""Tells an agent why it is suspended or disqualified, and when it may take part again."""

from agent_league.agent import log
from agent_league.league.context import Context
from agent_league.protocol import ErrorCode
from agent_league.protocol.error_messages import LeagueErrorMessage
from agent_league.protocol.failures import NoAnswerError
from agent_league.store.events import AgentDisqualified, AgentReinstated, AgentSuspended


class ExclusionNotices:
    """Sends one LEAGUE_ERROR for each decision; the agent may have gone, so nobody waits for it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        context.events.when_kept(AgentDisqualified, self._on_disqualified)
        context.events.when_kept(AgentReinstated, self._on_reinstated)
        context.events.when_kept(AgentSuspended, self._on_suspended)

    def _on_disqualified(self, event: AgentDisqualified) -> None:
        detail = f"{event.agent_id} is disqualified ({event.ground}): {event.why}"
        self._context.spawn(self._send(event.agent_id, "disqualify_agent", detail))

    def _on_suspended(self, event: AgentSuspended) -> None:
        detail = f"{event.agent_id} is suspended ({event.why}) until it answers or registers again"
        self._context.spawn(self._send(event.agent_id, "suspend_agent", detail))

    def _on_reinstated(self, event: AgentReinstated) -> None:
        detail = f"{event.agent_id} is no longer disqualified, and takes part again"
        self._context.spawn(self._send(event.agent_id, "reinstate_agent", detail))

    async def _send(self, agent_id: str, decision: str, detail: str) -> None:
        code = ErrorCode.NOT_ALLOWED
        notice = LeagueErrorMessage(
            **self._context.envelope(f"conv-{decision.replace('_', '-')}-{agent_id.lower()}"),
            error_code=code,
            error_name=code.name,
            error_description=code.name,
            original_message_type=decision,
            detail=detail[:200],
            retryable=False,
        )
        try:
            await self._context.line(self._context.season.roster[agent_id]).tell(notice)
        except NoAnswerError as error:
            log.info("%s was not told of this decision: %s", agent_id, error)
