"""The built wheel, in fresh virtual environments beside packages of others."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.eventually import eventually
from tests.support.processes.environments import Environment, build_wheel, write_wheel

OURS = {"foldline", "foldline_api", "foldline_worker"}
# Names that a program of somebody else's may well have.
OTHERS = ("api", "cli", "worker", "sessions", "telemetry")
START_SECONDS = 30.0

COMPACT = """
from foldline import budget, compact
import api, cli, worker, sessions, telemetry
assert {module.NAME for module in (api, cli, worker, sessions, telemetry)} == {
    "api", "cli", "worker", "sessions", "telemetry"}
words = [{"role": role, "content": "so many words " * 300} for role in ("user", "assistant") * 20]
compacted = compact(words, model="openai/gpt-4o", context_window=8000)
assert compacted.fits and compacted.tokens_saved > 0, compacted
print(budget(compacted.messages, model="openai/gpt-4o", context_window=8000).fits)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def new_environment(folder: Path) -> Environment:
    """A virtual environment that has packages of others."""
    made = Environment.create(folder / "environment")
    made.install(*(write_wheel(folder, package) for package in OTHERS))
    return made


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return new_environment(tmp_path)


@pytest.fixture(scope="module")
def library(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and what the library needs."""
    made = new_environment(tmp_path_factory.mktemp("library"))
    made.install(wheel)
    made.lend("imagesize", "orjson", "quicktok-v1", "regex")
    return made


def top_level(files: Iterable[str]) -> set[str]:
    return {name.partition("/")[0] for name in files}


def test_the_wheel_installs_three_packages_and_leaves_those_of_others_alone(
    wheel: Path, environment: Environment
) -> None:
    before = environment.files()
    assert top_level(before) == {*OTHERS, *(f"other_{name}-1.0.dist-info" for name in OTHERS)}
    environment.install(wheel)
    after = environment.files()
    assert top_level(after.keys() - before.keys()) == {*OURS, f"{wheel.name.rpartition('-py3')[0]}.dist-info"}
    assert {name: after[name] for name in before} == before
    environment.uninstall("foldline")
    assert environment.files() == before
    assert not environment.program.exists()


def test_the_library_needs_four_packages(library: Environment, tmp_path: Path) -> None:
    done = library.run(library.python, "-c", COMPACT, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_the_command_says_what_it_needs_beside_the_library(library: Environment, tmp_path: Path) -> None:
    done = library.run(library.program, "--version", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "foldline: the package typer is not installed; install the service, as in pip install 'foldline[service]'\n"
    )


def test_the_service_runs_in_a_project_that_has_folders_of_the_same_names(
    wheel: Path, environment: Environment, tmp_path: Path
) -> None:
    environment.install(wheel)
    environment.lend("foldline[service]")
    project = tmp_path / "project"
    for name in ("api", "cli", "worker"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text(f"raise AssertionError('{name} of the project was imported')\n")
    with served(environment, project) as url:
        assert httpx.get(f"{url}/healthz").status_code == httpx.codes.OK
        made = httpx.post(f"{url}/sessions", json={"model": "openai/gpt-4o"})
        assert made.status_code == httpx.codes.CREATED


@contextmanager
def served(environment: Environment, folder: Path) -> Iterator[str]:
    """The address of `foldline serve` in a folder that Python looks for modules in; it ends at SIGTERM."""
    log = folder / "serve.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [environment.program, "serve", "--port", "0"],
            cwd=folder,
            env={"PYTHONPATH": str(folder)},
            stdout=stream,
            stderr=stream,
        )
    try:
        eventually(lambda: "listening" in log.read_text() or process.poll() is not None, START_SECONDS)
        found = re.search(r"http://\S+", log.read_text())
        assert found, log.read_text()
        yield found[0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()
