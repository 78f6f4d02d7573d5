"""`python -m docker.image`: builds the image, tries it, and holds what it finds against what is promised."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from cli.consoles import answers, notes, table_of
from cli.failures import ExitCode
from docker.container import GRACE_SECONDS, Container, serving
from docker.engine import Engine, EngineFailed, NoEngine, engine
from tests.support.recorded import anthropic_session, chat_session, coding_session, write_sessions

# Of the environment we run in.
PROGRAMS: Final = Path(sys.executable).parent
DOCKERFILE: Final = "docker/Dockerfile"
BASE: Final = "docker.io/library/python:3.13-slim"
ROLES: Final = ("serve", "api", "worker", "beat", "flower", "migrate")
SIZE_FACTOR: Final = 1.25
MEGABYTE: Final = 1_000_000
REPLAY_WINDOW: Final = "5000"
COLUMNS: Final = (("", False), ("wanted", False), ("found", False))

# Programs for the image's Python. The first adds up the files that pip lists, of the packages that were installed.
PACKAGES_BYTES: Final = """
from importlib.metadata import distributions
from sysconfig import get_path
packages = distributions(path=[get_path("purelib")])
files = {file.locate().resolve() for package in packages for file in package.files}
print(sum(file.stat().st_size for file in files))
"""
USER: Final = "import os; print(os.getuid(), os.getgid())"
ROOT: Final = "import os; print('read-only' if os.statvfs('/').f_flag & os.ST_RDONLY else 'writable')"
FIRST_PROCESS: Final = "print(open('/proc/1/comm').read())"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: what it should be, and what it is."""

    name: str
    wanted: str
    found: str
    is_fine: bool


def main(
    *,
    base: Annotated[str, typer.Option(help="The image it stands on.")] = BASE,
    tag: Annotated[str, typer.Option(help="What the image is called.")] = "foldline",
) -> None:
    """Build the image and try it: its size, its roles, its user, a read-only root, a replay, a stop."""
    try:
        findings = list(_findings(engine(), base, tag))
    except (NoEngine, EngineFailed) as error:
        notes().print(f"image: {error}", markup=False, style="red")
        raise typer.Exit(ExitCode.SERVICE_FAILED) from None
    answers().print(table_of(COLUMNS, map(_row, findings), tag))
    raise typer.Exit(ExitCode.DONE if all(finding.is_fine for finding in findings) else ExitCode.FOUND_WANTING)


def _row(finding: Finding) -> tuple[str | Text, ...]:
    return finding.name, finding.wanted, Text(finding.found, style="green" if finding.is_fine else "red")


def _same(name: str, wanted: str, found: str) -> Finding:
    return Finding(name, wanted, found, found == wanted)


def _findings(used: Engine, base: str, tag: str) -> Iterator[Finding]:
    yield _same("hadolint", "clean", _said(PROGRAMS / "hadolint", DOCKERFILE) or "clean")
    revision = _said("git", "rev-parse", "HEAD") or "unknown"
    used.build(DOCKERFILE, ".", tag, {"BASE": base, "VERSION": version("foldline"), "REVISION": revision})
    yield _size(used, base, tag)
    yield _same("roles", ", ".join(ROLES), ", ".join(role for role in ROLES if _knows(used, tag, role)))
    with serving(used, tag) as container:
        yield from _in_use(container)


def _said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _size(used: Engine, base: str, tag: str) -> Finding:
    packages = int(used.run("run", "--rm", "--entrypoint", "python3", tag, "-c", PACKAGES_BYTES))
    below, size = used.facts(base)["Size"], used.facts(tag)["Size"]
    limit = SIZE_FACTOR * (below + packages)
    wanted = f"≤ {_mb(limit)}: {SIZE_FACTOR} × ({_mb(below)} base + {_mb(packages)} packages)"
    return Finding("size", wanted, _mb(size), size <= limit)


def _mb(size: float) -> str:
    return f"{size / MEGABYTE:.0f} MB"


def _knows(used: Engine, tag: str, role: str) -> bool:
    return used.tried("run", "--rm", tag, role, "--help").returncode == 0


def _in_use(container: Container) -> Iterator[Finding]:
    yield Finding("health check", "healthy", f"after {container.seconds_until_healthy():.1f} s", is_fine=True)
    for name, wanted, program in (
        ("user, group", "10001 10001", USER),
        ("root", "read-only", ROOT),
        ("first process", "dumb-init", FIRST_PROCESS),
    ):
        yield _same(name, wanted, container.execute("python3", "-c", program))
    yield _same("replay", "violations: 0", _replayed(container))
    seconds, code = container.stop()
    yield Finding("stop", f"exit code 0 within {GRACE_SECONDS} s", f"{code} after {seconds:.1f} s", code == 0)


def _replayed(container: Container) -> str:
    """The last line of a replay against it, which counts what was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = write_sessions(
            Path(folder) / "sessions.jsonl",
            coding=coding_session(1, turns=8),
            anthropic=anthropic_session(2, turns=10),
            chat=chat_session(3),
        )
        options = ("--url", container.url, "--window", REPLAY_WINDOW)
        environment = {**os.environ, "FOLDLINE_API_KEY": container.api_key}
        done = subprocess.run(
            [PROGRAMS / "foldline", "replay", sessions, *options],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    return (done.stdout.splitlines() or done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1]


if __name__ == "__main__":
    typer.run(main)
