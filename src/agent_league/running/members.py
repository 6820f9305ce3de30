"""Members of a league in this process: they join, play until it is over, and remember it."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from agent_league.agent_log import AgentLog
from agent_league.files.logger import AgentLogs
from agent_league.http.exchange import Wire
from agent_league.http.traced import TracedWire
from agent_league.member import Member
from agent_league.player import FinishedMatch, Player
from agent_league.protocol.failures import NoAnswerError
from agent_league.running.serve import open_client, serve_until, url_of
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.store.agent_files import (
    MatchHistory,
    load_identity,
    load_json,
    save_identity,
    save_json,
)

FLUSH_INTERVAL = 1.0
"""Seconds that an entry of an agent's log may stay in memory."""
POLL_INTERVAL = 1.0
"""Seconds between two attempts to reach a league that is not there yet."""
log = logging.getLogger("agent_league")


async def run_members(
    agents: Sequence[tuple[AgentSpec, socket.socket]],
    link: LeagueLink,
    stop: asyncio.Event,
    logs: AgentLogs | None = None,
    on_joined: Callable[[Member], None] = lambda member: None,
) -> None:
    """Run members until the league is over, or *stop* is set."""
    agent_logs = [(logs or AgentLogs()).for_agent(spec.agent_id) for spec, _ in agents]
    async with open_client() as client, flush_regularly(agent_logs), asyncio.TaskGroup() as group:
        wire: Wire = TracedWire(client) if link.trace else client
        for (spec, sock), agent_log in zip(agents, agent_logs, strict=True):
            served = replace(spec, endpoint=spec.endpoint or url_of(sock))
            member = served.make_member(wire, link)
            member.set_log(agent_log)
            if spec.learned_path and isinstance(member, Player):
                _keep_learned(member, spec.learned_path)
            season = take_part(member, link, spec.identity_path, on_joined)
            group.create_task(serve_until(member, sock, _run_until(stop, season)))


@asynccontextmanager
async def flush_regularly(logs: Sequence[AgentLog]) -> AsyncIterator[None]:
    """Write *logs* out every second while a context lasts, and close them at its end."""

    async def flush() -> None:
        while True:
            await asyncio.sleep(FLUSH_INTERVAL)
            for agent_log in logs:
                agent_log.flush()
                await asyncio.sleep(0)  # a hundred files at once would delay every match

    task = asyncio.ensure_future(flush())
    try:
        yield
    finally:
        task.cancel()
        for agent_log in logs:
            agent_log.close()


async def _run_until(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    running, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not running.cancel():
        running.result()


async def take_part(
    member: Member,
    link: LeagueLink,
    path: Path | None,
    on_joined: Callable[[Member], None] = lambda member: None,
) -> None:
    """Join the league and return when it is over; *path* has the identity from an earlier run."""
    if link.waits_for_league:
        await _wait_for_league(member)
    identity = load_identity(path) if path else None
    if identity is not None:
        member.resume(identity)
    if path is not None:
        member.on_registered = partial(_keep_identity, member, path)
    await _join(member, link)
    with ExitStack() as stack:
        if path is not None and isinstance(member, Player):
            history = MatchHistory(path.with_suffix(f".{member.league_id}.jsonl"))
            history.open()
            stack.callback(history.close)
            member.recall(history.read(FinishedMatch))
            member.save_match = partial(_save_match, history, member.save_match)
        member.agent_log.flush()  # make all files now, not during the first matches
        on_joined(member)
        if isinstance(member, Player):
            member.spawn(member.decision.warm_up())
        await member.over.wait()


def _save_match(
    history: MatchHistory, save: Callable[[FinishedMatch], None], played: FinishedMatch
) -> None:
    history.write(played)
    save(played)


def find_learned_file(state: Path, spec: AgentSpec) -> Path | None:
    """Return where a player keeps what it learns, from league to league."""
    name = Path(spec.strategy or "").stem
    return state / "learned" / f"{spec.agent_id}.{name}.json" if name else None


def _keep_learned(player: Player, path: Path) -> None:
    """Let a strategy that learns go on from what it has kept, and keep it after each match."""
    decision = player.decision
    if decision.learner is None:
        return
    decision.load_learned(load_json(path))

    def save(played: FinishedMatch) -> None:
        learned = decision.save_learned()
        if learned is not None:
            save_json(path, learned)

    player.save_match = save


def _keep_identity(member: Member, path: Path) -> None:
    save_identity(path, member.identity)


async def _join(member: Member, link: LeagueLink) -> None:
    """Register *member*; one of ours tries until it is stopped, because it ends with its league."""
    while True:
        try:
            return await member.register(link.retry, is_quiet=link.is_ours)
        except NoAnswerError:
            if not link.is_ours:
                raise
        await asyncio.sleep(link.retry.base_delay)


async def _wait_for_league(member: Member) -> None:
    """Return when somebody listens where the league should be."""
    warned = False
    while not await member.peers.wire.listens(member.league_url, POLL_INTERVAL):
        if not warned:
            log.warning("no league at %s yet; trying again every second", member.league_url)
        warned = True
        member.turn_to_next_address()
        await asyncio.sleep(POLL_INTERVAL)
