"""Who may join a league, as the flags say it: a code for all, a list of students, networks."""

import csv
import secrets
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from agent_league.protocol.tokens import hash_token
from agent_league.running.errors import UsageError

EXAMPLE = "as in: name,code (first line), then Ada Lovelace,violet-42"


def read_gate(join_code: str | None, roster: Path | None) -> dict[str, Any]:
    """Return the settings for who may join; with a roster there is always a code for the staff."""
    if roster is None:
        return {"join_code": join_code}
    code = join_code or secrets.token_urlsafe(9)
    if join_code is None:
        print(f"Referees, and players of the staff, join with --join-code {code}", file=sys.stderr)
    return {"join_code": code, "students": read_roster(roster)}


def read_roster(path: Path) -> dict[str, str]:
    """Return the hash of the code of each student."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read: {error}", EXAMPLE) from error
    students: dict[str, str] = {}
    codes: set[str] = set()
    for number, row in enumerate(rows, 2):
        name, code = (row.get("name") or "").strip(), (row.get("code") or "").strip()
        if not name or not code:
            raise UsageError(f"{path}, line {number}: expected a name and a code", EXAMPLE)
        if name in students or code in codes:
            raise UsageError(
                f"{path}, line {number}: {name}, or this code, is there twice", EXAMPLE
            )
        students[name] = hash_token(code)
        codes.add(code)
    if not students:
        raise UsageError(f"{path} has no students", EXAMPLE)
    return students


def read_networks(networks: str | None) -> tuple[str, ...]:
    """Return networks that are written with commas, or raise `UsageError`."""
    found = tuple(one.strip() for one in (networks or "").split(",") if one.strip())
    for one in found:
        try:
            ip_network(one)
        except ValueError as error:
            raise UsageError(f"--networks: {error}", "as in 10.0.0.0/8,192.168.0.0/16") from error
    return found
