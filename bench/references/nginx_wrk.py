"""nginx answers wrk, both written in C: what the system itself costs, and no Python."""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil

from agent_league.running.serve import LOOPBACK
from bench.measurement import Cost
from bench.recording import Script

ROUND_TRIPS = 7
"""The calls of a match without the notices to everybody."""
CONNECTIONS, SECONDS = 20, 2
TRIED = "CHOOSE_PARITY_CALL"
READY_S = 5.0

CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {folder}/body;
  server {{
    listen {host}:{port};
    location = /mcp {{ default_type application/json; return 200 '{reply}'; }}
  }}
}}
"""
SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [==[{request}]==]
"""


def find(program: str) -> str:
    """Return where a program is; folders of the system are searched too."""
    path = f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin"
    return shutil.which(program, path=path) or ""


def find_hindrance() -> str | None:
    """Return why this cannot be measured here, or None if it can."""
    missing = [program for program in ("nginx", "wrk") if not find(program)]
    if not missing:
        return None
    return f"there is no {' and no '.join(missing)} here (apt-get install nginx-light wrk)"


def play_nginx(script: Script) -> Cost:
    """Return what so many round trips cost as wrk makes in two seconds, counted as matches."""
    request, reply = (
        msgspec.json.encode(value).decode()
        for value in (script.exchanges[TRIED].request, script.exchanges[TRIED].reply)
    )
    with TemporaryDirectory() as name, _serve(Path(name), reply) as (url, nginx):
        before = sum(nginx.cpu_times()[:2])
        file = Path(name) / "post.lua"
        file.write_text(SCRIPT.format(request=request), encoding="utf-8")
        command = [find("wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}", "-s", str(file), url]
        began = os.times()
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        ended = os.times()
        cpu = {
            "wrk": sum(ended[2:4]) - sum(began[2:4]),
            "nginx": sum(nginx.cpu_times()[:2]) - before,
        }
        peak = {"nginx": nginx.memory_info().rss / 2**20}
    found = re.search(r"(\d+) requests in", output)
    if found is None or "Non-2xx" in output:
        raise SystemExit(f"wrk says:\n{output}")
    return Cost(int(found[1]) // ROUND_TRIPS, ended.elapsed - began.elapsed, cpu, peak)


@contextmanager
def _serve(folder: Path, reply: str) -> Iterator[tuple[str, psutil.Process]]:
    """Run nginx during a context; return its address and its process."""
    with socket.create_server((LOOPBACK, 0)) as sock:
        port = sock.getsockname()[1]
    file = folder / "nginx.conf"
    text = CONFIGURATION.format(folder=folder, host=LOOPBACK, port=port, reply=reply)
    file.write_text(text, encoding="utf-8")
    with subprocess.Popen([find("nginx"), "-c", str(file), "-p", str(folder)]) as process:
        try:
            _wait_for(port)
            yield f"http://{LOOPBACK}:{port}/mcp", psutil.Process(process.pid)
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    """Return when somebody listens at *port*."""
    for _ in range(100):
        try:
            socket.create_connection((LOOPBACK, port), READY_S).close()
        except ConnectionRefusedError:
            psutil.cpu_percent(READY_S / 100)  # a short pause
        else:
            return
    raise SystemExit("nginx did not start")
