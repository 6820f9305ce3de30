"""The processes of a league's own agents."""

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any, Self, TypeAlias

from agent_league.agent_log import AgentLog
from agent_league.files.logger import AgentLogs
from agent_league.protocol import LeagueError, Role
from agent_league.running.event_loop import run
from agent_league.running.fork_server import SAFE_PATH, choose_context, start_fork_server
from agent_league.running.members import run_members
from agent_league.running.serve import bind
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.season.season import Stage
from agent_league.serving.sdk_app import load_sdk
from agent_league.vocabulary import Json

Group: TypeAlias = Sequence[tuple[AgentSpec, socket.socket]]
"""The agents of one process, each with the socket that it listens at."""
log = logging.getLogger("agent_league")
EXIT_TIMEOUT = 5.0
"""Seconds that processes have to end by themselves."""
MAX_RESTARTS = 3
"""How often a process that ended too early is started again."""


class AgentDiedError(LeagueError):
    """Agents of ours ended before their league did."""


class AgentKilledError(AgentDiedError):
    """Agents of ours were killed, by a person or by the system, before their league was over."""


def _run_child(
    group: Group, link: LeagueLink, logs: AgentLogs, *, expects_mcp_clients: bool
) -> None:
    """Run agents until their league ends, or the process that started this one."""
    if expects_mcp_clients and len(group) > 1:  # later, it would delay the matches of them all
        load_sdk()
    try:
        run_child(lambda stop: run_members(group, link, stop, logs))
    except* LeagueError as errors:
        for error in errors.exceptions:
            log.error("%s: %s", _name_group(group), error)  # noqa: TRY400 - a sentence is enough
        raise SystemExit(1) from None


def run_child(make_work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run work in this process, which was started for it; it gets the event that ends it."""
    os.environ.pop(SAFE_PATH, None)  # it is meant for this process, not for those that it starts
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets Ctrl-C and stops us
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True).start()

    async def main() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        if parent is not None:
            loop.add_reader(parent.sentinel, stop.set)
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        await make_work(stop)

    run(main())


def _exit_after(sentinel: int) -> None:
    """End this process soon after its parent, even if its event loop is stuck."""
    wait([sentinel])
    threading.Event().wait(EXIT_TIMEOUT)
    os._exit(1)


def _name_group(group: Group) -> str:
    """Return what people call the agents of one process."""
    first = group[0][0]
    return first.display_name if len(group) == 1 else f"{len(group)} {first.role}s"


def _list_ids(group: Group) -> list[Json]:
    return [spec.agent_id for spec, _ in group]


def _has_referees(group: Group) -> bool:
    return group[0][0].role is Role.REFEREE


def _describe_end(process: BaseProcess) -> str:
    """Return who ended, and how."""
    code = process.exitcode or 0
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"{process.name} ended before the league was over ({how})"


def _make_error(process: BaseProcess) -> AgentDiedError:
    is_killed = (process.exitcode or 0) < 0
    return (AgentKilledError if is_killed else AgentDiedError)(_describe_end(process))


async def wait_for_end(process: BaseProcess) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process.sentinel, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)


class AgentProcesses:
    """Runs agents in processes; when its context ends, none is left running."""

    def __init__(
        self,
        host: str,
        link: LeagueLink,
        logs: AgentLogs,
        run_log: AgentLog,
        *,
        expects_mcp_clients: bool = False,
    ) -> None:
        self._host, self._link, self._logs, self.run_log = host, link, logs, run_log
        self._expects_mcp_clients = expects_mcp_clients
        self._groups: dict[BaseProcess, Group] = {}
        """The agents of each process that is not known to have ended."""
        self.all: list[BaseProcess] = []

    async def run(self, groups: Sequence[Group], get_stage: Callable[[], Stage]) -> None:
        """Run each group in a process of its own until the season is completed.

        A process that ends earlier is started again, a few times. Raises `AgentDiedError` if that
        does not help and the season cannot go on.
        """
        started = [await asyncio.to_thread(self._start, group) for group in groups]
        supervised = zip(groups, started, strict=True)
        await asyncio.gather(*(self._supervise(*one, get_stage) for one in supervised))

    async def _supervise(
        self, group: Group, process: BaseProcess, get_stage: Callable[[], Stage]
    ) -> None:
        for restarts in range(MAX_RESTARTS + 1):
            await wait_for_end(process)
            self._note_end(process)
            stage, refused = get_stage(), (process.exitcode or 0) > 0
            if stage is Stage.COMPLETED:
                return
            if stage is Stage.REGISTRATION and (refused or restarts == MAX_RESTARTS):
                raise _make_error(process)
            log.warning("%s", _describe_end(process))
            if restarts < MAX_RESTARTS:
                again = [(spec, bind(self._host, spec.port)) for spec, _ in group]
                process = await asyncio.to_thread(self._start, again)
        if _has_referees(group) and not any(map(_has_referees, self._groups.values())):
            raise _make_error(process)

    def _start(self, group: Group) -> BaseProcess:
        process = choose_context().Process(
            target=_run_child,
            args=(group, self._link, self._logs),
            kwargs={"expects_mcp_clients": self._expects_mcp_clients},
            name=_name_group(group),
            daemon=True,
        )
        process.start()
        self.all.append(process)
        self._groups[process] = group
        self.run_log.note("AGENT_STARTED", agents=_list_ids(group), pid=process.pid)
        for _, sock in group:  # a copy left open here would take calls that nobody answers
            sock.close()
        return process

    def __enter__(self) -> Self:
        start_fork_server()
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        if kind is not None:
            for process in self.all:
                process.terminate()
        deadline = time.monotonic() + EXIT_TIMEOUT
        try:
            for process in self.all:
                process.join(max(0.0, deadline - time.monotonic()))
        finally:  # a second Ctrl-C waits for nobody
            for process in self.all:
                self._end(process)

    def _end(self, process: BaseProcess) -> None:
        if process.is_alive():
            process.kill()
            process.join()
            self.run_log.note("AGENT_KILLED", "WARNING", agents=_list_ids(self._groups[process]))
        self._note_end(process)

    def _note_end(self, process: BaseProcess) -> None:
        group = self._groups.pop(process, None)
        if group is not None:
            level, code = "WARNING" if process.exitcode else "INFO", process.exitcode
            self.run_log.note("AGENT_ENDED", level, agents=_list_ids(group), exit_code=code)
