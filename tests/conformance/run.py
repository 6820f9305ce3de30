"""Runs the official conformance suite and clients of others against a league manager (`make conformance`).

The league is spoken to in its own dialect at the same port all the while, and on the short way.
"""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from serving.callers import META, modern, sent, tool_call

REVISIONS = ("2025-11-25", "2026-07-28")
ERAS = ("legacy", "auto", "modern")
REMOTE = "node_modules/mcp-remote/dist/proxy.js"
METHODS = (
    ("tools/list",),
    ("tools/call", "--tool-name", "get_standings"),
    ("resources/list",),
    ("resources/read", "--uri", "league://standings"),
    ("prompts/list",),
    ("prompts/get", "--prompt-name", "play_league"),
)
ERROR = "test_illegal_move"
"""A tool of the examinee that answers with an error, and has an output schema."""
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
LONGEST = 300.0
"""Seconds after which a program is given up."""


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """Run the examinee in a process of its own, and give its address."""
    script = str(Path(__file__).with_name("serve.py"))
    server = await asyncio.create_subprocess_exec(sys.executable, script, stdout=PIPE)
    try:
        assert server.stdout is not None
        yield (await asyncio.wait_for(server.stdout.readline(), 60)).decode().strip()
    finally:
        with suppress(ProcessLookupError):
            server.terminate()
        await server.wait()


async def node(tools: Path, *arguments: str) -> tuple[int, str]:
    """Run a program of the suite; return its exit code, and what it said."""
    program = str(tools / "node_modules/node/bin/node")
    env = {**os.environ, "MCP_INSPECTOR_SECRET_STORE": "memory", "NO_COLOR": "1"}
    ran = await asyncio.create_subprocess_exec(
        program, *arguments, stdout=PIPE, stderr=STDOUT, env=env
    )
    try:
        reply, _ = await asyncio.wait_for(ran.communicate(), LONGEST)
    except TimeoutError:
        ran.kill()
        await ran.wait()
        return 1, f"no end after {LONGEST:g} s"
    return ran.returncode or 0, reply.decode(errors="replace")


async def examined(tools: Path, url: str, revision: str) -> bool:
    """Whether every scored scenario of *revision* passes."""
    asked = ("server", "--url", url, "--requirements", revision)
    code, reply = await node(tools, str(tools / SUITE), *asked)
    lines = [line for line in reply.splitlines() if line.startswith(("Total", "✗", "Not scored"))]
    print(f"conformance {revision}: exit {code}", *lines, sep="\n  ")
    if not any(line.startswith("Total") for line in lines):
        print(reply[-2000:])
        return False
    return code == 0


def inspector(folder: str, url: str, era: str) -> tuple[str, ...]:
    """Return the arguments with which Inspector calls the league; a method follows them."""
    server = {"type": "streamable-http", "url": url, "protocolEra": era}
    config = Path(folder) / f"{era}.json"
    config.write_text(json.dumps({"mcpServers": {"league": server}}), encoding="utf-8")
    return ("--cli", "--config", str(config), "--server", "league", "--method")


async def reads_errors(tools: Path, url: str) -> bool:
    """Whether clients that apply output schemas to every result still get the text of an error."""
    call = str(Path(__file__).with_name("read_error.cjs")), str(tools), url, ERROR
    program = str(tools / "node_modules/node/bin/node")
    with TemporaryDirectory() as folder:
        runs = {
            "TypeScript SDK 1.x": call,
            "mcp-remote": (*call, program, str(tools / REMOTE), url, "--transport", "http-only"),
            **{
                f"inspector {era}": (
                    str(tools / INSPECTOR),
                    *inspector(folder, url, era),
                    "tools/call",
                    "--tool-name",
                    ERROR,
                )
                for era in ERAS
            },
        }
        read = {}
        for who, arguments in runs.items():
            _, reply = await node(tools, *arguments)
            read[who] = "legal_moves" in reply and '"isError":true' in reply.replace(" ", "")
            if not read[who]:
                print(f"{who} did not read the error\n{reply[-1000:]}")
    print(f"error results: {sum(read.values())} of {len(read)} clients read them")
    return all(read.values())


async def inspected(tools: Path, url: str) -> bool:
    """Whether MCP Inspector gets an answer to each method in each era."""
    with TemporaryDirectory() as folder:
        runs = [
            (era, method, (*inspector(folder, url, era), *method))
            for era in ERAS
            for method in METHODS
        ]
        codes = {}
        for era, method, arguments in runs:
            code, reply = await node(tools, str(tools / INSPECTOR), *arguments)
            codes[era, method[0]] = code
            if code:
                print(f"inspector {era} {method[0]}: exit {code}\n{reply[-1000:]}")
    print(f"inspector: {sum(not code for code in codes.values())} of {len(codes)} exit 0")
    return not any(codes.values())


async def talk(url: str, answered: list[bool]) -> None:
    """Speak the league's dialect, and MCP on the short way, again and again."""
    reply = {"content-type": "application/json"}
    league = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "get_standings", "params": {}}
    ).encode()
    short = tool_call("get_standings", {}, meta=META)
    while True:
        ours = await sent(url, league, reply)
        theirs = await sent(url, short, modern("get_standings"))
        answered.append(ours.frame["result"] == theirs.frame["result"]["structuredContent"])
        await asyncio.sleep(0.1)


async def main(tools: Path) -> int:
    answered: list[bool] = []
    async with serving() as url:
        talking = asyncio.create_task(talk(url, answered))
        passed = [await examined(tools, url, revision) for revision in REVISIONS]
        passed.append(await inspected(tools, url))
        passed.append(await reads_errors(tools, url))
        talking.cancel()
        with suppress(asyncio.CancelledError):
            await talking
    print(f"the league's dialect meanwhile: {sum(answered)} of {len(answered)} answers right")
    return int(not all([*passed, *answered, answered]))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]).resolve())))
