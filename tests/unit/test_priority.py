"""Processes for which nobody waits, and those for which callers do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from foldline.priority import LONG_SLICE_NANOSECONDS, NICENESS, SLICE_NANOSECONDS
from tests.support.slices import needs_slices

PROGRAM = """
import os, pathlib
from foldline.priority import lower_priority

def of_session():
    file = pathlib.Path("/proc/self/autogroup")
    # Empty where sessions share no processors.
    return (file.read_text().split() if file.exists() else [])[-1:] or ["none"]

before = of_session()
lower_priority()
print(os.nice(0), *before, *of_session())
"""

SLICES = """
import os, threading
from foldline import priority
from tests.support.slices import slice_of

def show():
    print(slice_of(os.getpid(), threading.get_native_id()))

{before}
show()
priority.shorten_slices()
show()
thread = threading.Thread(target=show)
thread.start()
thread.join()
priority.lower_priority()
show()
"""
# No system call has this number, and no processor this name.
REFUSED = "priority._SYSCALL_NUMBERS = dict.fromkeys(priority._SYSCALL_NUMBERS, (9999, 9999))"
UNKNOWN = "priority._SYSCALL_NUMBERS = {}"


def priorities(*, leads_session: bool) -> list[str]:
    """The niceness of a process that lowered its priority, and of its session before and after that."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, start_new_session=leads_session, capture_output=True, check=True, text=True)
    return done.stdout.split()


def lowered() -> str:
    return str(min(19, os.nice(0) + NICENESS))


def test_the_priority_of_a_process_and_of_the_session_that_it_leads() -> None:
    own, before, after = priorities(leads_session=True)
    assert (own, after) == (lowered(), before if before == "none" else str(NICENESS))


def test_a_session_that_another_process_leads_keeps_its_priority() -> None:
    own, before, after = priorities(leads_session=False)
    assert (own, after) == (lowered(), before)


def slices(before: str = "") -> list[str]:
    """Before they were shortened, after that, those of a thread that was started then, and after the low priority."""
    command = [sys.executable, "-c", SLICES.format(before=before)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()


@needs_slices
def test_slices_are_shortened_for_all_threads_and_longer_where_nobody_waits() -> None:
    before, *shortened, after = slices()
    assert shortened == [str(SLICE_NANOSECONDS)] * 2
    assert after == str(LONG_SLICE_NANOSECONDS)
    assert SLICE_NANOSECONDS < int(before) < LONG_SLICE_NANOSECONDS


@pytest.mark.parametrize("before", [REFUSED, UNKNOWN])
def test_where_slices_cannot_be_chosen_nothing_changes(before: str) -> None:
    assert len(set(slices(before))) == 1
