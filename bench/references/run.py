"""Runs a reference: manager, referee and players in processes of their own."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from agent_league.running.serve import LOOPBACK, url_of
from bench.measurement import SPAWN, Cost, compute_cost, read_clocks
from bench.recording import Script
from bench.references.roles import AddressBook, Caller, Manager, Referee
from bench.references.stack import Stack

STACKS: Mapping[str, str] = {
    "raw_asyncio": "raw_asyncio:RawAsyncio",
    "raw_uvloop": "raw_asyncio:RawUvloop",
    "starlette_aiohttp": "starlette_aiohttp:StarletteAiohttp",
    "seed_stack": "seed_stack:SeedStack",
}
"""Where each stack is; a process imports only its own."""

ROLES: Mapping[str, Callable[[Stack, Script, AddressBook], Caller]] = {
    "manager": Manager,
    "referee": Referee,
    "players": Caller,
}


def make_stack(name: str) -> Stack:
    module, _, kind = STACKS[name].partition(":")
    stack: Stack = getattr(import_module(f"bench.references.{module}"), kind)()
    return stack


@dataclass(frozen=True)
class Child:
    """One process of a reference, and the pipe to it."""

    pid: int
    pipe: Connection
    urls: list[str]


def play_reference(name: str, script: Script, rounds: int | None = None) -> Cost:
    """Play the season of *script*, or so many rounds of it, and return what it cost."""
    with ExitStack() as stack:
        counts = {"manager": 1, "referee": 1, "players": script.players}
        children = {
            role: stack.enter_context(_start(role, name, script, count))
            for role, count in counts.items()
        }
        urls = {role: child.urls for role, child in children.items()}
        book = AddressBook(urls["manager"][0], urls["referee"][0], urls["players"])
        for child in children.values():
            child.pipe.send(book)
            child.pipe.recv()
        pids = {role: [child.pid] for role, child in children.items()}
        before = read_clocks(pids)
        children["manager"].pipe.send(rounds or script.rounds)
        sent, _ = children["manager"].pipe.recv()
        cost = compute_cost(sent["START_MATCH"], before, read_clocks(pids))
        children["referee"].pipe.send(0)
        sent_by_referee, latencies_ms = children["referee"].pipe.recv()
    return replace(cost, messages=dict(sent + sent_by_referee), latencies_ms=latencies_ms)


@contextmanager
def _start(role: str, name: str, script: Script, count: int) -> Iterator[Child]:
    """Run a process for one role during a context."""
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=_run_role, args=(role, name, script, count, theirs))
    process.start()
    theirs.close()
    try:
        yield Child(process.pid or 0, ours, ours.recv())
    finally:
        process.kill()
        process.join()


def _run_role(role: str, name: str, script: Script, count: int, pipe: Connection) -> None:
    stack = make_stack(name)
    stack.run(_play_role(role, stack, script, count, pipe))


async def _play_role(role: str, stack: Stack, script: Script, count: int, pipe: Connection) -> None:
    """Listen, learn where the others are, and play when the pipe says so."""
    socks = [socket.create_server((LOOPBACK, 0), backlog=1024) for _ in range(count)]
    pipe.send([url_of(sock) for sock in socks])
    book: Any = await asyncio.to_thread(pipe.recv)
    caller = ROLES[role](stack, script, book)
    await stack.serve(socks, caller.answer)
    pipe.send("ready")
    while True:  # until this process is ended
        rounds: int = await asyncio.to_thread(pipe.recv)
        if isinstance(caller, Manager):
            await caller.run(rounds)
        pipe.send((caller.sent, caller.latencies_ms))
