"""One league on three hosts, of which one is cut off, slowed or killed at a random moment."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from distributed.database import Database
from distributed.hosts import FAULTS, Host, Network

TESTS = Path(__file__).parent.parent
ENVIRONMENT = {"PYTHONPATH": f"{TESTS}:{TESTS.parent / 'src'}", "PATH": os.environ["PATH"]}
PLAYERS, ROUNDS, SEATS = 300, 4, 8
MATCHES = PLAYERS // 2 * ROUNDS
LEAGUE, PORT = "cup", 8000
LEADER, STANDBY = 1, 2
"""The hosts of the two managers; the first host has PostgreSQL."""
LONGEST_S = 420.0
"""Seconds that a whole run may take, on a machine that is busy with other things."""


class Plan(Struct, frozen=True):
    """What happens in a run; all of it follows from the seed."""

    seed: int
    host: int
    fault: str
    after: int
    """The number of acknowledged results after which it happens."""
    lasts: float

    @classmethod
    def make(cls, seed: int, matches: int) -> "Plan":
        rng = random.Random(f"distributed {seed}")
        fault = rng.choice([*FAULTS])
        host, after = rng.randrange(3), rng.randrange(matches)
        return cls(seed, host, fault, after, round(rng.uniform(4.0, 12.0), 1))

    def with_fault(self, fault: str) -> "Plan":
        """Return the same run in which *fault* hits the host of the leader."""
        return replace(self, host=LEADER, fault=fault)

    @property
    def is_take_over_due(self) -> bool:
        """Whether the standby has to lead."""
        return self.host == LEADER and self.fault != "slow"


class Outcome(Struct, frozen=True):
    """What came of a run."""

    plan: Plan
    matches: int
    acknowledged: int
    lost: list[str]
    doubled: int
    verified: bool
    term: int
    takeover_s: float | None
    """How long nobody led, if the leader's host was cut off or killed."""
    seconds: float

    @property
    def is_complete(self) -> bool:
        return self.matches == MATCHES


def python(*words: str) -> list[str]:
    settings = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
    return ["env", *settings, sys.executable, "-m", *words]


class Drill:
    """PostgreSQL is on the first host; managers on the others; a worker and players on each."""

    def __init__(self, folder: Path, network: Network, plan: Plan) -> None:
        self._folder, self._hosts, self.plan = folder, network.hosts, plan
        self._database = Database(self._hosts[0], folder / "pg")
        self._leagues = ",".join(f"http://{one.address}:{PORT}" for one in self._hosts[1:])

    def play(self) -> Outcome:
        began = time.monotonic()
        self._wait_for_database()
        self._start_manager(self._hosts[1])
        self._wait_until(lambda: "Waiting for" in self._read("manager2.out"), 120)
        self._start_manager(self._hosts[2])
        for number, host in enumerate(self._hosts):
            self._start_agents(number, host)
        self._wait_until(lambda: len(self._list_acknowledged()) > self.plan.after, LONGEST_S)
        takeover_s = self._hit(self._hosts[self.plan.host])
        self._wait_until(lambda: self._look()["is_over"] is True, LONGEST_S, pause=1.0)
        return self._judge(takeover_s, time.monotonic() - began)

    def _wait_for_database(self) -> None:
        def answers() -> bool:
            try:
                self._hosts[0].ask(*python("distributed.look", self._database.address, LEAGUE))
            except AssertionError as error:
                return "UndefinedTable" in str(error)
            return True

        self._wait_until(answers, 60)

    def _start_manager(self, host: Host) -> None:
        name = f"manager{host.address[-1]}"
        flags = {
            "store": self._database.address,
            "host": host.address,
            "port": PORT,
            "players": PLAYERS,
            "format": "swiss",
            "rounds": ROUNDS,
            "shared": self._folder / name,
        }
        words = [word for flag, value in flags.items() for word in (f"--{flag}", str(value))]
        command = python("agent_league", "manager", LEAGUE, "--standby", *words)
        host.start(command, self._folder / f"{name}.out")

    def _start_agents(self, number: int, host: Host) -> None:
        folder, share = self._folder / f"agents{number}", PLAYERS // len(self._hosts)
        folder.mkdir()
        evidence = str(self._folder / f"acknowledged{number}.txt")
        worker = python("distributed.worker", self._database.address, str(SEATS), evidence)
        host.start(worker, self._folder / f"worker{number}.out")
        first, leagues = 1 + number * share, self._leagues
        players = (host.address, str(first), str(share), leagues, str(folder))
        host.start(python("distributed.players", *players), self._folder / f"players{number}.out")

    def _hit(self, host: Host) -> float | None:
        """Let the fault happen; return how long it took until the standby led, if it had to."""
        begin, end = FAULTS[self.plan.fault]
        probing = self._probe() if self.plan.is_take_over_due else None
        at = time.monotonic()
        getattr(host, begin)()
        time.sleep(self.plan.lasts)  # noqa: TID251 - this is how long the fault lasts
        getattr(host, end)()
        if probing is None:
            return None
        probing.wait(90)
        told = self._read("probe.out").strip()
        return float(told) - at if told and told != "None" else float("inf")

    def _probe(self) -> subprocess.Popen[bytes]:
        """Look from now on when the standby begins to serve."""
        standby = self._hosts[STANDBY]
        looking = python("distributed.probe", standby.address, str(PORT), "60")
        return standby.launch(looking, self._folder / "probe.out")

    def _look(self) -> dict[str, object]:
        try:
            told = self._hosts[0].ask(
                *python("distributed.look", self._database.address, LEAGUE), within=30
            )
        except (AssertionError, subprocess.TimeoutExpired):  # its host may be away
            return {"is_over": False}
        found: dict[str, object] = json.loads(told)
        return found

    def _judge(self, takeover_s: float | None, seconds: float) -> Outcome:
        found = self._look()
        ended = found["ended"]
        assert isinstance(ended, list)
        acknowledged = self._list_acknowledged()
        store = ("--store", self._database.address, "--shared", str(self._folder / "verify"))
        verified = self._hosts[0].ask(*python("agent_league", "verify", LEAGUE, *store))
        return Outcome(
            self.plan,
            matches=len({*ended}),
            acknowledged=len({*acknowledged}),
            lost=sorted({*acknowledged} - {*ended}),
            doubled=len(ended) - len({*ended}),
            verified="holds" in verified,
            term=int(str(found["term"])),
            takeover_s=takeover_s,
            seconds=round(seconds, 1),
        )

    def _list_acknowledged(self) -> list[str]:
        return [
            line
            for path in self._folder.glob("acknowledged*.txt")
            for line in path.read_text().split()
        ]

    def _read(self, name: str) -> str:
        path = self._folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def _wait_until(self, is_true: "object", seconds: float, pause: float = 0.1) -> None:
        assert callable(is_true)
        ends = time.monotonic() + seconds
        while not is_true():
            assert time.monotonic() < ends, f"{self.plan}: nothing happens; see {self._folder}"
            time.sleep(pause)  # noqa: TID251 - nobody tells another program when it is so far


def drill(folder: Path, plan: Plan) -> Outcome:
    with Network(3) as network:
        return Drill(folder, network, plan).play()
