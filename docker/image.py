"""`python -m docker.image`: builds the image, runs it, and checks the promises about it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from docker.container import GRACE_SECONDS, Container, options_for, running
from docker.engine import Engine, EngineFailed, NoEngine, engine
from foldline.terminal import ExitCode, answers, notes, table_of
from stack.roles import Role, roles
from stack.services.ports import HOST, free_port
from stack.services.postgresql import plain
from stack.services.servers import postgres, valkey
from tests.support.recorded import anthropic_session, chat_session, coding_session, write_sessions

# The programs of our own Python environment.
PROGRAMS: Final = Path(sys.executable).parent
DOCKERFILE: Final = "docker/Dockerfile"
BASE: Final = "docker.io/library/python:3.13-slim"
SIZE_FACTOR: Final = 1.25
MEGABYTE: Final = 1_000_000
REPLAY_WINDOW: Final = "5000"
COLUMNS: Final = (("", False), ("wanted", False), ("found", False))

# For the image's Python: the bytes of all files of the installed packages, as pip lists them.
PACKAGES_BYTES: Final = """
from importlib.metadata import distributions
from sysconfig import get_path
packages = distributions(path=[get_path("purelib")])
files = {file.locate().resolve() for package in packages for file in package.files}
print(sum(file.stat().st_size for file in files))
"""
# Checks inside a running container: the name, the expected result, and the Python code that prints it.
INSIDE: Final = (
    ("user, group", "10001 10001", "import os; print(os.getuid(), os.getgid())"),
    ("root", "read-only", "import os; print('read-only' if os.statvfs('/').f_flag & os.ST_RDONLY else 'writable')"),
    ("first process", "dumb-init", "print(open('/proc/1/comm').read())"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: the expected and the actual value."""

    name: str
    wanted: str
    found: str
    is_fine: bool


def main(
    *,
    base: Annotated[str, typer.Option(help="Base image.")] = BASE,
    tag: Annotated[str, typer.Option(help="Name of the image.")] = "foldline",
) -> None:
    """Build the image and check it: its size, its user, a read-only root, a replay, a stop, and each of its roles."""
    try:
        findings = list(_findings(engine(), base, tag))
    except (NoEngine, EngineFailed) as error:
        notes().print(f"image: {error}", markup=False, style="red")
        raise typer.Exit(ExitCode.SERVICE_FAILED) from None
    answers().print(table_of(COLUMNS, map(_row, findings), tag))
    raise typer.Exit(ExitCode.DONE if all(finding.is_fine for finding in findings) else ExitCode.NEGATIVE_RESULT)


def _row(finding: Finding) -> tuple[str | Text, ...]:
    return finding.name, finding.wanted, Text(finding.found, style="green" if finding.is_fine else "red")


def _same(name: str, wanted: str, found: str) -> Finding:
    return Finding(name, wanted, found, found == wanted)


def _findings(used: Engine, base: str, tag: str) -> Iterator[Finding]:
    linted = _done(PROGRAMS / "hadolint", DOCKERFILE)
    yield _same("hadolint", "clean", f"{linted.stdout}{linted.stderr}".strip() or "clean")
    revision = _done("git", "rev-parse", "HEAD").stdout.strip() or "unknown"
    used.build(DOCKERFILE, ".", tag, {"BASE": base, "VERSION": version("foldline"), "REVISION": revision})
    yield _size(used, base, tag)
    yield from _alone(used, tag)
    yield from _as_deployed(used, tag)


def _done(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)


def _size(used: Engine, base: str, tag: str) -> Finding:
    packages = int(used.run("run", "--rm", "--entrypoint", "python3", tag, "-c", PACKAGES_BYTES))
    below, size = used.facts(base)["Size"], used.facts(tag)["Size"]
    limit = SIZE_FACTOR * (below + packages)
    wanted = f"≤ {_mb(limit)}: {SIZE_FACTOR} × ({_mb(below)} base + {_mb(packages)} packages)"
    return Finding("size", wanted, _mb(size), size <= limit)


def _mb(size: float) -> str:
    return f"{size / MEGABYTE:.0f} MB"


def _alone(used: Engine, tag: str) -> Iterator[Finding]:
    """The findings about a container without a command: one process on an SQLite file.

    Its ports are the same inside and outside, so it can share the machine's network.
    """
    port, api_key = str(free_port()), token_hex(16)
    variables = {
        "FOLDLINE_API_KEYS": f"image:{api_key}",
        "FOLDLINE_PORT": port,
        "FOLDLINE_METRICS_PORT": str(free_port()),
    }
    options = options_for(variables, "--volume=/data", f"--publish={HOST}:{port}:{port}")
    with running(used, tag, options) as container:
        seconds = container.seconds_until(*_health_check(used.facts(tag)))
        yield Finding("health check", "healthy", f"after {seconds:.1f} s", is_fine=True)
        for name, wanted, program in INSIDE:
            yield _same(name, wanted, container.execute("python3", "-c", program))
        yield _same("replay", "violations: 0", _replayed(f"http://{HOST}:{port}", api_key))
        yield _stopped(container)


def _health_check(facts: dict[str, Any]) -> list[str]:
    """The health check of the image; docker keeps it in another place than podman."""
    kind, *command = (facts.get("Healthcheck") or facts["Config"]["Healthcheck"])["Test"]
    if kind != "CMD":
        raise EngineFailed(f"the health check is a {kind}, which needs a shell")
    return list(command)


def _stopped(container: Container) -> Finding:
    seconds, code = container.stop()
    return Finding("stop", f"exit code 0 within {GRACE_SECONDS} s", f"{code} after {seconds:.1f} s", is_fine=code == 0)


def _as_deployed(used: Engine, tag: str) -> Iterator[Finding]:
    """The findings about containers in each role of the Compose file, beside servers on this machine."""
    with postgres(is_own=True) as database, valkey(is_own=True) as broker:
        variables = {
            "FOLDLINE_API_KEYS": f"image:{token_hex(16)}",
            "FOLDLINE_FLOWER_LOGIN": f"image:{token_hex(16)}",
            "FOLDLINE_DATABASE_URL": plain(database.url),
            "FOLDLINE_BROKER_URL": broker.url,
        }
        for role in roles(variables):
            yield _in_role(used, tag, role)


def _in_role(used: Engine, tag: str, role: Role) -> Finding:
    options = options_for({**role.environment, **role.places()}, "--network=host")
    if role.health_path is None:
        return Finding(role.name, "done", used.run("run", "--rm", *options, tag, *role.arguments), is_fine=True)
    with running(used, tag, options, *role.arguments) as container:
        seconds = container.seconds_until("answers", role.health_path)
        return Finding(role.name, "ready", f"after {seconds:.1f} s", is_fine=True)


def _replayed(url: str, api_key: str) -> str:
    """The last line of a replay against a service, which counts the failures."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = write_sessions(
            Path(folder) / "sessions.jsonl",
            coding=coding_session(1, turns=8),
            anthropic=anthropic_session(2, turns=10),
            chat=chat_session(3),
        )
        options = ("--url", url, "--window", REPLAY_WINDOW)
        done = _done(PROGRAMS / "foldline", "replay", sessions, *options, FOLDLINE_API_KEY=api_key)
    return (done.stdout.splitlines() or done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1]


if __name__ == "__main__":
    typer.run(main)
