"""What all three actors have: an identity, handlers, connections to peers, background tasks."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from agent_league.agent_log import AgentLog
from agent_league.clock import Clock, format_time, system_clock
from agent_league.futures import make_waits
from agent_league.http.exchange import Wire
from agent_league.offer import Offer
from agent_league.peers.endpoint import Handler
from agent_league.peers.lines import Peers
from agent_league.protocol import Envelope, LeagueError, Message, Patience, ProtocolError, Role
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.error_messages import LeagueErrorMessage
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.fields import VERSION
from agent_league.vocabulary import Json

T = TypeVar("T")
log = logging.getLogger("agent_league")

BODY_LIMIT = 10 * 1024
"""The longest message that the protocol allows, in bytes."""


class Agent:
    """The common part of the league manager, a referee and a player."""

    role: Role
    league_signs: bool = True
    """Whether the league of this agent proves what it sends; then what is not proven is refused."""
    body_limit = BODY_LIMIT
    takes_batches: bool = False
    """Whether it takes several notices in one JSON-RPC batch."""

    def __init__(
        self,
        name: str,
        wire: Wire,
        *,
        patience: Patience | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self.rename(name)
        self.patience = patience or Patience()
        self.clock = clock
        self.peers = Peers(wire, self.patience, clock)
        self.agent_log = AgentLog()
        self.waits = make_waits()
        self._tasks: set[asyncio.Task[Any]] = set()

    def rename(self, name: str) -> None:
        """Take *name*; after registration, the id that the league gave."""
        self.name = name
        self.sender = self.make_sender()
        """How it calls itself in every message."""

    def make_sender(self) -> str:
        return f"{self.role}:{self.name}"

    def set_log(self, agent_log: AgentLog) -> None:
        """Log to *agent_log* from now on; a detailed log also gets what is sent, and the replies."""
        self.agent_log = agent_log
        self.peers.on_sent = self._note_sent if agent_log.detailed else None
        self.peers.on_reply = self._note_reply if agent_log.detailed else None

    def handlers(self) -> Mapping[type[Message], Handler]:
        """Return the function that answers each class of message; an agent may only ask."""
        return {}

    def offer(self) -> Offer:
        """Return the pages, tools and resources of this agent."""
        return Offer()

    def about(self) -> dict[str, Json]:
        """Return what the page `/` shows."""
        return {"agent": self.role, "name": self.name, "protocol": VERSION, "endpoint": "/mcp"}

    def is_ready(self) -> bool:
        return True

    def host_names(self) -> frozenset[str]:
        """Return the host names of this agent, beside those of its machine."""
        return frozenset()

    @property
    def endpoint(self) -> str:
        """Where other agents reach this one, if it has to know that."""
        return ""

    @property
    def strict(self) -> bool:
        """Whether this agent refuses messages that deviate from the protocol."""
        return False

    @property
    def game(self) -> str:
        """The game that this agent means where a message names none."""
        return "even_odd"

    def now(self) -> str:
        return format_time(self.clock())

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        """Return the message to be handled; an agent may change it, or raise `ProtocolError`."""
        return message

    def note_deviations(self, message: Message, deviations: Sequence[Deviation]) -> None:
        """Log the deviations of a message that was handled all the same."""
        for deviation in deviations:
            self.suspect(message.sender, deviation)

    def suspect(self, agent_id: str, deviation: Deviation) -> None:
        """Log what the agent *agent_id* probably does, if another did not send its message."""
        self.agent_log.note("DEVIATION", sender=agent_id, rule=deviation.rule.id, got=deviation.got)

    def envelope(self, conversation_id: str) -> Envelope:
        return {
            "protocol": VERSION,
            "sender": self.sender,
            "timestamp": format_time(self.clock()),
            "conversation_id": conversation_id,
        }

    def make_error(self, error: ProtocolError) -> LeagueErrorMessage:
        """Return the message that reports *error*."""
        return LeagueErrorMessage(
            **self.envelope(error.conversation_id or f"conv-error-{error.code.lower()}"),
            error_code=error.code,
            error_name=error.code.name,
            error_description=error.code.name,
            original_message_type=error.about,
            detail=error.detail,
            context=error.context or None,
            retryable=error.code.retryable,
        )

    def _note_sent(self, url: str, body: bytes) -> None:
        sent = msgspec.json.decode(body)
        for frame in sent if isinstance(sent, list) else [sent]:
            self.agent_log.note("MESSAGE_SENT", "DEBUG", to=url, message=frame.get("params", frame))

    def _note_reply(self, url: str, reply: bytes | Raw | NoAnswerError) -> None:
        details: dict[str, Json] = {"from": url}
        if isinstance(reply, NoAnswerError):
            self.agent_log.note("NO_REPLY", "DEBUG", **details, error=str(reply))
        else:
            message = msgspec.json.decode(reply)
            self.agent_log.note("REPLY_RECEIVED", "DEBUG", **details, message=message)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run *work* in the background, log it if it fails, and return its task."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)
        return task

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # An error that was raised on purpose explains itself; only a bug needs its traceback.
            bug = None if isinstance(error, LeagueError) else error
            log.error("%s: %r", self.sender, error, exc_info=bug)
            self.agent_log.note("TASK_FAILED", "ERROR", error=repr(error))

    async def close(self) -> None:
        """Stop all background tasks."""
        self.waits.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
