"""Hosts made of network namespaces: each has an address of its own, on one switch between them."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

SLOW = "tbf rate 400kbit burst 8kb latency 1500ms"
"""A link that lets through little, and holds up to 1.5 s of it."""


def find_hindrance() -> str | None:
    """Return why there can be no hosts here; None if there can be."""
    if shutil.which("ip") is None or shutil.which("tc") is None:
        return "there is no program ip or tc (apt-get install iproute2)"
    probe = f"lgprobe{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False)
    if made.returncode:
        return f"network namespaces are not permitted here: {made.stderr.decode().strip()}"
    run("ip", "netns", "del", probe)
    return None


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


class Host:
    """A namespace with its processes; cut off, slowed or killed it comes back as it was."""

    def __init__(self, network: str, number: int) -> None:
        self.address = f"10.77.0.{number}"
        self._name, self._switch, self._port = f"{network}h{number}", f"{network}sw", f"p{number}"
        run("ip", "netns", "add", self._name)
        own = ("link", "add", "v0", "netns", self._name, "type", "veth")
        run("ip", *own, "peer", "name", self._port, "netns", self._switch)
        run("ip", "-n", self._switch, "link", "set", self._port, "master", "br0", "up")
        run("ip", "-n", self._name, "addr", "add", f"{self.address}/24", "dev", "v0")
        for device in ("lo", "v0"):
            run("ip", "-n", self._name, "link", "set", device, "up")
        self._services: list[tuple[Sequence[str], Path]] = []
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, command: Sequence[str], output: Path) -> subprocess.Popen[bytes]:
        """Start a program that is started again when the host comes back after a kill."""
        self._services.append((command, output))
        return self.launch(command, output)

    def launch(self, command: Sequence[str], output: Path) -> subprocess.Popen[bytes]:
        """Start a program that ends with the host."""
        with output.open("ab") as file:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self._name, *command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def ask(self, *command: str, within: float = 120.0) -> str:
        """Run a program to its end, and return what it prints."""
        done = subprocess.run(
            ["ip", "netns", "exec", self._name, *command],
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    def cut(self) -> None:
        run("ip", "-n", self._switch, "link", "set", self._port, "down")

    def uncut(self) -> None:
        run("ip", "-n", self._switch, "link", "set", self._port, "up")

    def slow(self) -> None:
        for name, device in ((self._switch, self._port), (self._name, "v0")):
            run("tc", "-n", name, "qdisc", "replace", "dev", device, "root", *SLOW.split())

    def unslow(self) -> None:
        for name, device in ((self._switch, self._port), (self._name, "v0")):
            run("tc", "-n", name, "qdisc", "del", "dev", device, "root")

    def kill(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def revive(self) -> None:
        """Start all services again, as a machine does that was switched off and on."""
        self.processes.clear()
        for command, output in self._services:
            self.launch(command, output)

    def remove(self) -> None:
        self.kill()
        run("ip", "netns", "del", self._name)


class Network:
    """Some hosts on one switch; nothing of it can be reached from outside, nor reaches out."""

    def __init__(self, count: int) -> None:
        self._name = f"lg{os.getpid()}"
        switch = f"{self._name}sw"
        run("ip", "netns", "add", switch)
        run("ip", "-n", switch, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", switch, "link", "set", "br0", "up")
        self.hosts = [Host(self._name, number) for number in range(1, count + 1)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        for host in self.hosts:
            host.remove()
        run("ip", "netns", "del", f"{self._name}sw")


FAULTS: Mapping[str, tuple[str, str]] = {
    "cut": ("cut", "uncut"),
    "slow": ("slow", "unslow"),
    "kill": ("kill", "revive"),
}
"""What can happen to a host: how it begins, and how it ends."""
