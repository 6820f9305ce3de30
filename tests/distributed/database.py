"""A PostgreSQL that runs on one of the hosts, and can be killed with it."""

import os
import shutil
from pathlib import Path

from distributed.hosts import Host, run
from store.cluster import OWNER, binaries


def as_owner(*command: str) -> list[str]:
    return ["runuser", "-u", OWNER, "--", *command] if os.geteuid() == 0 else [*command]


class Database:
    """Trusts every host of its network, and syncs to the disk as a real one does."""

    def __init__(self, host: Host, folder: Path) -> None:
        self._programs = binaries() or Path()
        data = folder / "data"
        folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(folder, OWNER)
        made = ("-D", str(data), "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-sync")
        run(*as_owner(str(self._programs / "initdb"), *made))
        with (data / "pg_hba.conf").open("a") as file:
            file.write("host all all 10.77.0.0/24 trust\n")
        options = {
            "port": 5432,
            "listen_addresses": host.address,
            "unix_socket_directories": folder,
            "shared_buffers": "32MB",
            "max_connections": 60,
        }
        flags = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        program = str(self._programs / "postgres")
        host.start(as_owner(program, "-D", str(data), *flags), folder.parent / "postgres.out")
        self.address = f"postgresql://{OWNER}@{host.address}:5432/{OWNER}"
