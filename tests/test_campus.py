"""The page about a class is tried on three computers, each a network namespace of this one."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from agent_league.running.serve import LOOPBACK, bind, find_own_address, url_of
from terminals import opened

PAGE = (Path(__file__).parent.parent / "docs" / "campus.md").read_text(encoding="utf-8")
ADDRESSES = {"staff": "192.168.7.10", "ada": "192.168.7.21", "bob": "192.168.7.22"}


def ip(words: str) -> None:
    """Run `ip` from iproute2, or skip the test where it is not allowed."""
    done = subprocess.run(
        [shutil.which("ip") or "ip", *words.split()], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"ip {words}: {done.stderr.strip()}")


@contextmanager
def network() -> Iterator[dict[str, str]]:
    """Give the names of the namespaces of three computers, which are linked by a switch."""
    if shutil.which("ip") is None:
        pytest.skip("there is no command ip here")
    unique = f"{os.getpid():x}"
    names = {computer: f"{computer}-{unique}" for computer in ADDRESSES}
    switch = f"switch-{unique}"
    with ExitStack() as stack:
        for name in (switch, *names.values()):
            ip(f"netns add {name}")
            stack.callback(ip, f"netns del {name}")
        ip(f"-n {switch} link add br0 type bridge")
        ip(f"-n {switch} link set br0 up")
        for computer, name in names.items():
            plug = f"{computer}{unique}"[:15]
            ip(f"-n {name} link add eth0 type veth peer name {plug} netns {switch}")
            ip(f"-n {switch} link set {plug} master br0 up")
            ip(f"-n {name} addr add {ADDRESSES[computer]}/24 dev eth0")
            ip(f"-n {name} link set eth0 up")
            ip(f"-n {name} link set lo up")
        yield names


@pytest.mark.processes
def test_a_class_on_three_computers_registers_as_the_page_says(tmp_path: Path) -> None:
    start, ada, bob, to_staff, to_ada = re.findall(r"```sh\n(.*?)\n```", PAGE)
    is_open, joined, ada_is_in, bob_is_in = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    folder = tmp_path / "home"
    folder.mkdir()
    with network() as names, opened((*names, "ada again", "staff again"), folder) as terminals:

        def type_at(computer: str, command: str, terminal: str = "") -> None:
            typed = f"ip netns exec {names[computer]} {command}"
            terminals[terminal or computer].type(typed)

        type_at("bob", "league new player Bob --lang python-plain")
        type_at("staff", start)
        terminals["staff"].see(is_open)
        type_at("ada", ada)
        terminals["ada"].see(ada_is_in)
        type_at("bob", bob)
        terminals["bob"].see(bob_is_in)
        terminals["staff"].see(joined)
        type_at("ada", to_staff, "ada again")
        terminals["ada again"].see('{"league_id":…"Ada"…"Bob"…')
        type_at("staff", to_ada, "staff again")
        terminals["staff again"].see('{"agent":"player"…')


def test_an_agent_for_every_address_names_one_that_others_can_use() -> None:
    with bind("0.0.0.0", 0) as sock:  # noqa: S104 - that is what is tested
        assert url_of(sock).startswith(f"http://{find_own_address()}:")


def test_our_address_towards_this_machine_is_loopback() -> None:
    assert find_own_address(LOOPBACK) == LOOPBACK
