"""The console blocks of the documentation, typed into a shell against a real service, and their answers compared."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from api.problems import KINDS
from tests.support.program import REPOSITORY
from tests.support.server import served_with_worker

ADDRESS = "localhost:8080"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What stands on a page for anything at all.
ELISION = "…"
END = "\x1e"
SECONDS_FOR_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class Command:
    """What is typed, and the answer as the page shows it; nothing shown means no problem."""

    typed: str
    shown: str

    def is_answered_by(self, answer: str) -> bool:
        if not self.shown.strip():
            return "/problems/" not in answer
        parts = [re.escape("".join(part.split())) for part in self.shown.split(ELISION)]
        return re.fullmatch(".*?".join(parts), "".join(answer.split()), re.DOTALL) is not None


def commands_of(text: str) -> Iterator[Command]:
    """The commands of a page that ask the service."""
    for block in BLOCK.findall(text):
        if ADDRESS in block:
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


def answers_to(commands: list[Command], url: str) -> list[str]:
    """What one shell prints for each command."""
    address = url.removeprefix("http://")
    lines = [f"{command.typed.replace(ADDRESS, address)}\nprintf '{END}'" for command in commands]
    done = subprocess.run(
        ["bash", "-c", "\n".join(['curl() { command curl -sS "$@"; }', *lines])],
        env=os.environ | {"NO_PROXY": "*", "no_proxy": "*"},
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS_FOR_A_PAGE,
        check=True,
    )
    assert not done.stderr
    return done.stdout.split(END)[:-1]


@pytest.fixture
def url(database: str) -> Iterator[str]:
    """A fresh service with its worker, as `foldline serve` runs them."""
    with served_with_worker(database) as url:
        yield url


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the pages are for bash and curl")
@pytest.mark.parametrize("page", ["README.md", "docs/use-the-service.md"])
def test_a_page_shows_what_the_service_answers(page: str, url: str) -> None:
    commands = list(commands_of((REPOSITORY / page).read_text("utf-8")))
    answers = answers_to(commands, url)

    assert len(answers) == len(commands) > 2
    wrong = [
        f"$ {command.typed}\nthe page shows: {command.shown}\nthe service answers: {answer}"
        for command, answer in zip(commands, answers, strict=True)
        if not command.is_answered_by(answer)
    ]
    assert not wrong, "\n\n".join(wrong)


def test_an_elision_stands_for_anything_and_nothing_else_does() -> None:
    command = Command("curl", '{"id":"…",\n "used":7,…}')

    assert command.is_answered_by('{"id":"e0-1","used":7,"fits":true}')
    assert not command.is_answered_by('{"id":"e0-1","used":8,"fits":true}')


def test_the_table_of_problems_has_all_of_them() -> None:
    page = (REPOSITORY / "docs" / "use-the-service.md").read_text("utf-8")
    rows = set(re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \|", page, re.MULTILINE))

    assert rows == {(kind.name, str(int(kind.status))) for kind in KINDS.values()}
