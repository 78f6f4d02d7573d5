"""The console blocks of the documentation, typed into a shell against a real service, and their answers compared."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from foldline_api.http.problems import PROBLEM_TYPES
from foldline_worker.hooks.hooks import GROUP

from tests.e2e.test_serve import serving
from tests.support.processes.databases import only_sqlite
from tests.support.processes.hook_package import install
from tests.support.processes.program import REPOSITORY
from tests.support.processes.server import served_with_worker

# As a reader of the pages starts.
database_kind = only_sqlite

ADDRESS = "localhost:8080"
# What a page has typed that is for a service, or for its database.
IS_RUN = re.compile(rf"{ADDRESS}|^\$ foldline (import|export|compact) ", re.MULTILINE)
# Both outputs of a command are on the page.
SHELL = f"""
curl() {{ command curl -sS "$@"; }}
foldline() {{ {shlex.quote(sys.executable)} -m foldline.cli.main "$@" 2>&1; }}
"""
# What stands on a page for anything at all.
ELISION = "…"
END = "\x1e"
SECONDS_FOR_A_PAGE = 40


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and its output as the page shows it; without output shown, any answer but a problem will do."""

    typed: str
    shown: str

    def is_answered_by(self, answer: str) -> bool:
        if not self.shown.strip():
            return "/problems/" not in answer
        parts = [re.escape("".join(part.split())) for part in self.shown.split(ELISION)]
        return re.fullmatch(".*?".join(parts), "".join(answer.split()), re.DOTALL) is not None


def page_of(name: str) -> str:
    return (REPOSITORY / name).read_text("utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of a page in this language."""
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return found


def commands_of(text: str) -> Iterator[Command]:
    """The commands of a page that are for the service."""
    for block in blocks(text, "console"):
        if IS_RUN.search(block):
            yield from _commands(block.splitlines())


def _commands(lines: list[str]) -> Iterator[Command]:
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        typed = lines[start].removeprefix("$ ")
        following = start + 1
        while _goes_on(typed):
            typed += "\n" + lines[following]
            following += 1
        yield Command(typed, "\n".join(lines[following:stop]))


def _goes_on(typed: str) -> bool:
    """Whether a shell would ask for another line: a quote is open, or the end of the line is escaped."""
    try:
        shlex.split(typed)
    except ValueError:
        return True
    return typed.endswith("\\")


def answers_to(commands: list[Command], url: str, folder: Path, **variables: str) -> list[str]:
    """The output of each command, typed into one shell in this folder."""
    address = url.removeprefix("http://")
    lines = [f"{command.typed.replace(ADDRESS, address)}\nprintf '{END}'" for command in commands]
    done = subprocess.run(
        ["bash", "-c", "\n".join([SHELL, *lines])],
        cwd=folder,
        env=os.environ | {"NO_PROXY": "*", "no_proxy": "*", "PYTHONPATH": str(REPOSITORY)} | variables,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS_FOR_A_PAGE,
        check=True,
    )
    assert not done.stderr
    return done.stdout.split(END)[:-1]


def wrong_on(text: str, url: str, folder: Path, **variables: str) -> str:
    """The differences between a page and the service's answers."""
    commands = list(commands_of(text))
    answers = answers_to(commands, url, folder, **variables)

    assert len(answers) == len(commands) > 2
    return "\n\n".join(
        f"$ {command.typed}\nthe page shows: {command.shown}\nthe service answers: {answer}"
        for command, answer in zip(commands, answers, strict=True)
        if not command.is_answered_by(answer)
    )


@pytest.fixture
def url(database: str) -> Iterator[str]:
    """A fresh service with its worker, as `foldline serve` runs them."""
    with served_with_worker(database) as url:
        yield url


needs_a_shell = pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")), reason="the pages are for bash and curl"
)


@needs_a_shell
@pytest.mark.parametrize("page", ["README.md", "docs/use-the-service.md", "docs/presets.md", "docs/session-files.md"])
def test_a_page_shows_what_the_service_and_the_commands_answer(
    page: str, database: str, url: str, tmp_path: Path
) -> None:
    text = page_of(page)
    for file in blocks(text, "jsonl"):
        (tmp_path / "session.jsonl").write_text(file, "utf-8")

    assert not wrong_on(text, url, tmp_path, FOLDLINE_DATABASE_URL=database)


@needs_a_shell
def test_the_page_of_hooks_shows_a_package_that_works(tmp_path: Path) -> None:
    page = page_of("docs/hooks.md")
    (project,), (source,) = blocks(page, "toml"), blocks(page, "python")
    points = tomllib.loads(project)["project"]["entry-points"][GROUP]
    hooks = {name: point.removeprefix("team_rules:") for name, point in points.items()}

    with serving(tmp_path, install(tmp_path / "installed", source, **hooks)) as (running, url):
        assert not wrong_on(page, url, tmp_path)
        running.stop(signal.SIGTERM)

    assert "hooks: rules\n" in running.printed
    assert "audit-1 cancelled cancelled by the hook rules: an audit is kept whole\n" in running.printed
    assert "chat-1 succeeded ['summarize']\n" in running.printed


def test_an_elision_stands_for_anything_and_nothing_else_does() -> None:
    command = Command("curl", '{"id":"…",\n "used":7,…}')

    assert command.is_answered_by('{"id":"e0-1","used":7,"fits":true}')
    assert not command.is_answered_by('{"id":"e0-1","used":8,"fits":true}')


def test_the_table_of_problems_has_all_of_them() -> None:
    page = page_of("docs/use-the-service.md")
    rows = set(re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \|", page, re.MULTILINE))

    assert rows == {(kind.name, str(int(kind.status))) for kind in PROBLEM_TYPES.values()}
