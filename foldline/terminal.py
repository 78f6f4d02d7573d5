"""Terminal output of commands: results on stdout, notes on stderr, exit codes, and the error that ends a command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from foldline.engine.wire import dumps_text


class ExitCode(IntEnum):
    """The exit codes of commands."""

    DONE = 0
    NEGATIVE_RESULT = 1  # the command ran, and its result is negative: violations, a request too slow
    BAD_INPUT = 2  # an option or a file is wrong; nothing was done
    SERVICE_FAILED = 3  # a service did not start, did not answer, or refused what it should take
    INTERRUPTED = 130  # Ctrl-C, as in shells


class CommandFailed(Exception):
    """The command cannot continue; the message is shown to the user and names the next step."""

    def __init__(self, message: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


# The width of a pipe or file: long lines are better than words cut in two.
PIPED_WIDTH = 120


def answers() -> Console:
    """The console for results."""
    return _console(stderr=False)


def notes() -> Console:
    """The console for progress and errors."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPED_WIDTH)
    return console


def print_json(console: Console, value: Any) -> None:
    """Print a JSON value on one line, without markup or wrapping."""
    console.out(dumps_text(value), highlight=False)


def printable(text: str) -> str:
    """The text without control characters, other than line ends: a terminal would obey them."""
    return "".join(char if char == "\n" or char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def kinds_table(by_kind: Mapping[str, Mapping[str, int]]) -> Table:
    """A table of the items of summaries, from the numbers kept, recallable and replaced of each kind."""
    columns = (("items", False), ("kept", True), ("recallable", True), ("replaced", True))
    return table_of(
        columns, ((kind, *(f"{counts[name]:,}" for name, _ in columns[1:])) for kind, counts in by_kind.items())
    )


def table_of(columns: Sequence[tuple[str, bool]], rows: Iterable[Iterable[Any]], title: str | None = None) -> Table:
    """A plain table; `columns` are (name, is a number), and numbers are aligned right. A cell may be styled text."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
        show_header=any(name for name, _ in columns),
    )
    for name, is_number in columns:
        table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return table
