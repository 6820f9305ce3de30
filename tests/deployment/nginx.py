"""nginx with the configuration of `deploy/nginx`, and a certificate of its own, for one test."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from free_ports import free_port

ROOT = Path(__file__).parent.parent.parent
CONFIG = ROOT / "deploy/nginx/league.conf"
MAIN = """daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    include {folder}/league.conf;
}}
"""


def hindrance() -> str | None:
    """Return why there can be no nginx here, or None if there can be."""
    for program in ("nginx", "openssl"):
        if shutil.which(program) is None and not Path(f"/usr/sbin/{program}").exists():
            return f"{program} is not installed (apt-get install {program})"
    return None


class Nginx:
    """The files of one nginx; *folder* holds its certificate too."""

    def __init__(self, folder: Path, managers: Sequence[int]) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"https://localhost:{self.port}"
        self.certificate = folder / "certificates/league.crt"
        self._make_certificate()
        servers = "\n".join(f"server 127.0.0.1:{port} max_fails=0;" for port in managers)
        upstream = f"upstream league_managers {{ {servers} keepalive 32; }}"
        (folder / "managers.conf").write_text(upstream, encoding="utf-8")
        config = CONFIG.read_text(encoding="utf-8")
        config = config.replace("/etc/nginx/league", str(folder))
        config = config.replace("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl")
        (folder / "league.conf").write_text(config, encoding="utf-8")
        (folder / "nginx.conf").write_text(MAIN.format(folder=folder), encoding="utf-8")

    def _make_certificate(self) -> None:
        self.certificate.parent.mkdir(parents=True)
        subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        kind = ("-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject)
        key = str(self.certificate.with_suffix(".key"))
        files = ("-out", str(self.certificate), "-keyout", key)
        subprocess.run(
            [str(shutil.which("openssl")), "req", *kind, *files], check=True, capture_output=True
        )

    def command(self, *more: str) -> list[str]:
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        return [program, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"), *more]


@contextmanager
def nginx(folder: Path, *managers: int) -> Iterator[Nginx]:
    """Run nginx in front of managers at these ports of this machine."""
    made = Nginx(folder, managers)
    subprocess.run(made.command("-t"), check=True, capture_output=True)
    process = subprocess.Popen(made.command(), stderr=subprocess.DEVNULL)
    try:
        yield made
    finally:
        process.terminate()
        process.wait()
