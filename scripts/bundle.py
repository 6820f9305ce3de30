"""Writes dist/bundle: the wheel of this package, and of everything it needs, pinned by their hashes.

On the other machine, without any index:

    python3 -m venv league
    league/bin/pip install --no-index --find-links bundle --require-hashes -r bundle/requirements.txt

For another kind of machine or Python, add what `pip download` takes:
`make bundle ARGS="--python-version 3.12 --platform manylinux_2_28_aarch64"`.
"""

import re
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUNDLE = ROOT / "dist/bundle"
PINNED = ROOT / "requirements-bundle.txt"
README = __doc__.partition("\n\n")[2]


def main() -> None:
    """Write the folder, and an archive of it."""
    (wheel,) = (ROOT / "dist").glob("agent_league-*.whl")
    shutil.rmtree(BUNDLE, ignore_errors=True)
    BUNDLE.mkdir(parents=True)
    download(sys.argv[1:])
    shutil.copy(wheel, BUNDLE)
    own = f"agent-league=={wheel.name.split('-')[1]} --hash=sha256:{hash_file(wheel)}\n"
    pinned = PINNED.read_text(encoding="utf-8")
    (BUNDLE / "requirements.txt").write_text(own + pinned, encoding="utf-8")
    (BUNDLE / "README.txt").write_text(README, encoding="utf-8")
    archive = wheel.with_name(re.sub(r"-py3-none-any\.whl$", "-bundle.tar.gz", wheel.name))
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(BUNDLE, "bundle")
    wheels = len(list(BUNDLE.glob("*.whl")))
    size = archive.stat().st_size / 1e6
    print(f"{archive.relative_to(ROOT)}: {wheels} wheels, {size:.1f} MB")


def download(options: list[str]) -> None:
    """Fetch every wheel that is pinned; only wheels, so that nothing has to be built there."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:"]
    wanted = ["--no-deps", "--require-hashes", "-r", str(PINNED), "-d", str(BUNDLE)]
    subprocess.run([*pip, *wanted, *options], check=True)  # noqa: S603 - our own list


def hash_file(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
