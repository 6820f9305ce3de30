"""An MCP server that is a command: it is started here, and spoken to over its input and output.

This runs somebody's code on this machine; nothing does so unless a person asks for it.
"""

import asyncio
import shlex
from contextlib import suppress

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_league.mcp.client import Outgoing, SessionLostError
from agent_league.protocol.jsonrpc import Id
from agent_league.transport import LateError, NonsenseError, UnreachableError

MOST_BYTES = 1 << 20
"""How long a line of the server may be."""
FAREWELL = 2.0
"""Seconds that a server has to end once its input is closed."""


class _Head(Struct):
    id: Id | UnsetType = UNSET
    method: str | UnsetType = UNSET


_head = msgspec.json.Decoder(_Head)


class StdioCarrier:
    """Speaks to the server that *command* starts; one that has ended is started again."""

    def __init__(self, command: str) -> None:
        self.name = command
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[bytes]] = {}

    def forget(self) -> None:
        """Nothing is kept of a session but the process itself."""

    async def send(self, said: Outgoing, within: float) -> bytes:
        process = await self._running(said)
        if said.number is None:
            await self._written(process, said)
            return b""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[said.number] = answer
        try:
            async with asyncio.timeout(within):
                await self._written(process, said)
                return await answer
        except TimeoutError:
            raise LateError(f"{self.name} gave no answer within {within:g} s") from None
        finally:
            self._waiting.pop(said.number, None)

    async def close(self) -> None:
        """End the server: its input ends first, then its patience, then its life."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(FAREWELL):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if self._reading is not None:
            await self._reading

    async def _running(self, said: Outgoing) -> asyncio.subprocess.Process:
        # One whose output has ended will not answer, though it may not be seen to be dead yet.
        if self._process is not None and self._reading is not None and not self._reading.done():
            return self._process
        await self.close()
        if said.method not in {"initialize", "server/discover"}:
            raise SessionLostError(f"{self.name} has ended, and is started again")
        self._process = await self._started()
        self._reading = asyncio.ensure_future(self._read(self._process))
        return self._process

    async def _started(self) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *shlex.split(self.name),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=MOST_BYTES,
            )
        except (OSError, ValueError) as error:
            raise UnreachableError(f"{self.name!r} cannot be started: {error}") from error

    async def _written(self, process: asyncio.subprocess.Process, said: Outgoing) -> None:
        if process.stdin is None:
            raise UnreachableError(f"{self.name} has no input")
        try:
            process.stdin.write(said.body() + b"\n")
            await process.stdin.drain()
        except (ConnectionError, RuntimeError) as error:
            raise UnreachableError(f"{self.name} has ended") from error

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Hand each line to whoever waits for it, until there are no more."""
        try:
            while process.stdout is not None and (line := await process.stdout.readline()):
                self._take(line)
        except ValueError:  # longer than the limit
            with suppress(ProcessLookupError):
                process.kill()
            self._fail(NonsenseError(f"{self.name} wrote more than {MOST_BYTES} bytes in a line"))
        self._fail(UnreachableError(f"{self.name} has ended"))

    def _take(self, line: bytes) -> None:
        """Take a line that answers something; servers write other things as well."""
        with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            head = _head.decode(line)
            waiting = self._waiting.get(head.id) if isinstance(head.id, int) else None
            if head.method is UNSET and waiting is not None and not waiting.done():
                waiting.set_result(line)

    def _fail(self, error: UnreachableError | NonsenseError) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)
