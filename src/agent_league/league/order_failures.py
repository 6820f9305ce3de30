"""What happens to a referee that takes no matches, or takes them and never reports."""

from collections import Counter
from collections.abc import Callable

from agent_league.agent import log
from agent_league.league.context import Context
from agent_league.league.liveness import Liveness
from agent_league.league.referee_pool import RefereePool
from agent_league.protocol.failures import LateError, NoAnswerError
from agent_league.protocol.play import StartMatch
from agent_league.season.roster import Entry
from agent_league.store.events import MatchEnded

FAILURES_TO_STAY_OUT = 3
"""How many matches in a row a referee may fail at before it stays out."""
STAYS_OUT = "it gets no match until it registers again"
FIX = "hint: let it serve the tool start_match, and answer ACCEPTED"


class OrderFailures:
    """Counts what a referee fails at; gives it a rest, suspends it, or has it stay out."""

    def __init__(self, context: Context, referee_pool: RefereePool, liveness: Liveness) -> None:
        self._context = context
        self._retry = context.season.settings.retry
        self._referee_pool = referee_pool
        self._liveness = liveness
        self._failures: Counter[str] = Counter()
        """The matches that a referee failed at since it last reported one."""
        self._unproven: set[str] = set()
        """The referees of other forms in whose name something was reported that does not count."""
        self._said: set[tuple[str, str]] = set()
        context.events.when_kept(MatchEnded, self._on_match_ended)

    def note_refused(self, referee_id: str, match_id: str, reason: str | None) -> None:
        """Give a referee that refuses a match a rest; its reason is shown once."""
        is_new = (referee_id, str(reason)) not in self._said
        self._say_once(log.warning if is_new else log.info, referee_id, match_id, str(reason))
        self._referee_pool.rest(referee_id, self._retry.base_delay)

    def _say_once(
        self, say: Callable[..., None], referee_id: str, match_id: str, reason: str
    ) -> None:
        self._said.add((referee_id, reason))
        say("%s refuses %s: %s", referee_id, match_id, reason)

    async def note_untaken(self, referee: Entry, match_id: str, error: NoAnswerError) -> None:
        """Give no match to a referee that took none: for a while, or until it is back."""
        log.info("%s does not take %s: %s", referee.agent_id, match_id, error)
        if isinstance(error, LateError) and self._uses_other_form(referee):
            await self.note_unreported(referee, match_id)
        elif error.retryable:  # it may be only slow
            self._referee_pool.rest(referee.agent_id, self._retry.base_delay)
            await self._liveness.count_unanswered(referee, 1, "does not take matches")
        else:
            await self._suspend(referee, f"does not take matches: {error}", FIX)

    async def note_unreported(self, referee: Entry, match_id: str) -> None:
        """Prefer other referees to one that has not reported a match in time."""
        self._referee_pool.demote(referee.agent_id)
        is_unproven = referee.agent_id in self._unproven
        what = (
            "its auth_token with every report" if is_unproven else "MATCH_RESULT_REPORT in the end"
        )
        why = f"{match_id} was not reported {'with proof' if is_unproven else 'in time'}"
        await self._suspend(referee, why, f"hint: let it send {what}")

    def note_unproven(self, referee: Entry) -> None:
        """Have a referee stay out if it reports no match, and what came in its name is not proven.

        Anybody could have sent that: it changes nothing for a referee that reports.
        """
        if self._uses_other_form(referee):
            self._unproven.add(referee.agent_id)

    async def _suspend(self, referee: Entry, why: str, fix: str) -> None:
        """Suspend a referee until it answers, or until it registers again if that cannot help."""
        referee_id = referee.agent_id
        self._failures[referee_id] += 1
        session = self._context.line(referee).session
        is_hopeless = not session.understands(StartMatch) or referee_id in self._unproven
        if is_hopeless or self._failures[referee_id] >= FAILURES_TO_STAY_OUT:
            self._failures.pop(referee_id)
            self._unproven.discard(referee_id)
            self._liveness.keep_out(referee_id)
            why = f"{why}; {STAYS_OUT} ({fix})"
        await self._liveness.suspend(referee, why)

    def _uses_other_form(self, referee: Entry) -> bool:
        return self._context.line(referee).session.uses_other_form(StartMatch)

    def _on_match_ended(self, ended: MatchEnded) -> None:
        self._failures.pop(ended.referee_id, None)
        self._unproven.discard(ended.referee_id)
        self._referee_pool.restore(ended.referee_id)
