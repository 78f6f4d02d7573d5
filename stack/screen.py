"""What a stack looks like from outside: a table that follows it on a terminal, elsewhere a line for each change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import Final
from urllib.parse import urlsplit

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from cli.consoles import table_of
from stack.members import Member
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
NOT_STARTED: Final = ("stopped", 0)


@contextmanager
def table(stack: Stack, console: Console) -> Iterator[None]:
    """A table of the stack's processes on a terminal, which follows them while the block runs."""
    with Live(console=console, get_renderable=lambda: _picture(stack), refresh_per_second=REFRESHES_PER_SECOND):
        yield


@contextmanager
def lines(stack: Stack, console: Console) -> Iterator[None]:
    """A line for each change of a process's state, while the block runs."""
    is_over = Event()
    follower = Thread(target=_follow, args=(stack, console, is_over), name="stack-lines")
    follower.start()
    try:
        yield
    finally:
        is_over.set()
        follower.join()


def hints(stack: Stack) -> str:
    """What one needs to use it."""
    return (
        f"FOLDLINE_URL={stack.api_url}\n"
        f"FOLDLINE_DATABASE_URL={stack.database_url}\n"
        f"FOLDLINE_BROKER_URL={stack.broker_url}\n"
        f"Flower's user and password are {stack.flower_login}; logs are in {stack.logs}"
    )


def _picture(stack: Stack) -> RenderableType:
    below = f"\n{hints(stack)}\nCtrl-C ends everything" if stack.is_ready else ""
    return Group(table_of(COLUMNS, map(_row, stack.members)), Text(below, style="dim"))


def _row(member: Member) -> tuple[object, ...]:
    is_up = member.pid != 0
    return (
        member.name,
        Text(member.state, style=STYLES.get(member.state, "dim")),
        member.pid if is_up else "",
        _address(member.url),
        timedelta(seconds=int(member.uptime_seconds)) if is_up else "",
        member.restarts,
        Text(member.last_line(), style="dim", no_wrap=True, overflow="ellipsis"),
    )


def _address(url: str) -> str:
    """An address to click on, or just a host and port; the database's carries a password."""
    return url if url.startswith("http") else urlsplit(url).netloc.rpartition("@")[2]


def _follow(stack: Stack, console: Console, is_over: Event) -> None:
    told: dict[str, tuple[str, int]] = {}
    while True:
        was_over = is_over.wait(1 / REFRESHES_PER_SECOND)
        for member in stack.members:
            now = (member.state, member.pid)
            if told.get(member.name, NOT_STARTED) != now:
                told[member.name] = now
                console.print(_line(member, *now), markup=False, soft_wrap=True)
        if was_over:
            return


def _line(member: Member, state: str, pid: int) -> str:
    facts = [f"pid {pid}", _address(member.url), f"restarts {member.restarts}" if member.restarts else ""]
    return "  ".join([f"{member.name:9} {state:8}", *filter(None, facts if pid else ())]).rstrip()
