"""Shows the state of a stack: as a live table on a terminal, elsewhere as a line for each change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from shlex import quote
from threading import Event, Lock, Thread
from typing import Final
from urllib.parse import urlsplit

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from foldline.terminal import table_of
from stack.processes.members import Member
from stack.stack import Stack

COLUMNS: Final = (
    ("process", False),
    ("state", False),
    ("pid", True),
    ("address", True),
    ("up", True),
    ("restarts", True),
    ("last line of its log", False),
)
STYLES: Final = {"ready": "green", "starting": "yellow", "ended": "red"}
REFRESHES_PER_SECOND: Final = 4
NOT_STARTED: Final = ("waiting", 0)
# The width of a terminal, in characters, from which on there is room for the last line of each log.
WIDTH_FOR_LOGS: Final = 120
TIMESTAMP: Final = re.compile(r"^\d{4}-\d\d-\d\d[ T][\d:.,]+ ")


@contextmanager
def table(stack: Stack, console: Console) -> Iterator[Callable[[], None]]:
    """A live table of the stack's processes on a terminal, until the end of the block.

    Yields a function that updates the table at once.
    """

    def picture() -> RenderableType:
        return _picture(stack, is_wide=console.width >= WIDTH_FOR_LOGS)

    with Live(console=console, get_renderable=picture, refresh_per_second=REFRESHES_PER_SECOND) as live:
        yield live.refresh


@contextmanager
def lines(stack: Stack, console: Console) -> Iterator[Callable[[], None]]:
    """A line for each change of a process's state, until the end of the block.

    Yields a function that prints the changes so far at once.
    """
    changes, is_over = _Changes(stack, console), Event()
    follower = Thread(target=_follow, args=(changes, is_over), name="stack-lines")
    follower.start()
    try:
        yield changes.report
    finally:
        is_over.set()
        follower.join()
        changes.report()


def hints(stack: Stack) -> str:
    """The stack's environment variables as lines to paste into a shell; print them without wrapping."""
    exports = [f"export {name}={quote(value)}" for name, value in stack.variables.items()]
    return "\n".join([*exports, login(stack), f"# Logs: {stack.logs}"])


def login(stack: Stack) -> str:
    """Flower's user and password, as a comment of a shell."""
    return f"# Flower's user and password: {stack.flower_login}"


def _picture(stack: Stack, *, is_wide: bool) -> RenderableType:
    columns = COLUMNS if is_wide else COLUMNS[:-1]
    rows = [_row(member)[: len(columns)] for member in stack.members]
    return Group(table_of(columns, rows), Text("\nCtrl-C ends everything" if stack.is_ready else "", style="dim"))


def _row(member: Member) -> tuple[object, ...]:
    is_up = member.pid != 0
    return (
        member.name,
        Text(member.state, style=STYLES.get(member.state, "dim")),
        member.pid if is_up else "",
        _address(member),
        timedelta(seconds=int(member.uptime_seconds)) if is_up else "",
        member.restarts,
        Text(TIMESTAMP.sub("", member.last_line()), style="dim", no_wrap=True, overflow="ellipsis"),
    )


def _address(member: Member) -> str:
    """The address of a process: its page, else its metrics, else host and port without the database's password."""
    if member.url.startswith("http"):
        return member.url
    if member.metrics_url:
        return f"{urlsplit(member.metrics_url).netloc}/metrics"
    return urlsplit(member.url).netloc.rpartition("@")[2]


class _Changes:
    """Prints the changes in the states of processes, each once."""

    def __init__(self, stack: Stack, console: Console) -> None:
        self._stack = stack
        self._console = console
        self._reported: dict[str, tuple[str, int]] = {}
        self._lock = Lock()

    def report(self) -> None:
        """Print a line for each process whose state differs from the one printed last."""
        with self._lock:
            for member in self._stack.members:
                now = (member.state, member.pid)
                if self._reported.get(member.name, NOT_STARTED) != now:
                    self._reported[member.name] = now
                    self._console.print(_line(member, *now), markup=False, soft_wrap=True)


def _follow(changes: _Changes, is_over: Event) -> None:
    while not is_over.wait(1 / REFRESHES_PER_SECOND):
        changes.report()


def _line(member: Member, state: str, pid: int) -> str:
    facts = [f"pid {pid}", _address(member), f"restarts {member.restarts}" if member.restarts else ""]
    return "  ".join([f"{member.name:18} {state:8}", *filter(None, facts if pid else ())]).rstrip()
