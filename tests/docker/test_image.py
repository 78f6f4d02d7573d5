"""What can be said of the image without building it; `make image` builds and tries it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import pytest

from docker.engine import ENGINES, NoEngine, engine
from docker.image import DOCKERFILE, PROGRAMS
from foldline.terminal import ExitCode
from stack.services.ports import free_port
from tests.support.processes.program import REPOSITORY

FILE: Final = (REPOSITORY / DOCKERFILE).read_text("utf-8")
ANSWERS: Final = REPOSITORY / "docker" / "answers.py"


class Half(BaseHTTPRequestHandler):
    """Answers well at /healthz and nowhere else."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no log."""


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Half) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def answers(port: int, path: str) -> int:
    """How the image's health check ends, run by the Python in reach, as in the image."""
    environment = {
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        "FOLDLINE_METRICS_PORT": str(port),
        "http_proxy": "http://127.0.0.1:1",
    }
    return subprocess.run([ANSWERS, path], env=environment, check=False, timeout=30).returncode


def test_hadolint_finds_nothing() -> None:
    done = subprocess.run([PROGRAMS / "hadolint", REPOSITORY / DOCKERFILE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)


def test_all_of_the_program_and_little_else_reaches_the_build() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    packages = {folder.partition("/")[0] for folder in project["tool"]["hatch"]["build"]["packages"]}
    copied = set(re.findall(r"^COPY (?!--from)(\S+) ", FILE, re.MULTILINE)) - {"."}
    allowed = set(re.findall(r"^!(.*)$", (REPOSITORY / ".dockerignore").read_text("utf-8"), re.MULTILINE))

    assert allowed == packages | copied | {
        "pyproject.toml",
        project["project"]["readme"],
        *project["project"]["license-files"],
    }


def test_the_health_check_asks_for_a_good_answer(port: int) -> None:
    assert [answers(port, path) for path in ("/healthz", "/readyz")] == [0, 1]


def test_who_does_not_listen_is_not_healthy() -> None:
    assert answers(free_port(), "/healthz") == 1


@pytest.mark.parametrize(
    ("here", "found"), [(("docker", "buildah", "podman"), 0), (("docker", "buildah"), 1), (("podman",), 2)]
)
def test_what_builds_images_is_found(
    here: tuple[str, ...], found: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in here:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert engine() == ENGINES[found]


def test_without_anything_that_builds_images_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoEngine, match="install buildah and podman, or docker"):
        engine()

    command = [sys.executable, "-m", "docker.image"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert done.returncode == ExitCode.SERVICE_FAILED
    assert "install" in done.stderr
