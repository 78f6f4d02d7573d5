"""Processes for which nobody waits, and those for which callers do."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from foldline.priority import NICENESS, SLICE_NANOSECONDS

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
import pathlib, re, threading
from foldline.priority import lower_priority, shorten_slices

def show():
    print(re.search(r"se.slice *: *([0-9]+)", pathlib.Path("/proc/thread-self/sched").read_text())[1])

show()
shorten_slices()
show()
thread = threading.Thread(target=show)
thread.start()
thread.join()
lower_priority()
show()
"""


def has_slices() -> bool:
    """Whether this is a Linux in which a thread may choose its slices, and which shows them."""
    version = [int(number) for number in re.findall(r"\d+", platform.release())[:2]]
    return version >= [6, 12] and Path("/proc/thread-self/sched").exists()


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


@pytest.mark.skipif(not has_slices(), reason="Linux lets a thread choose its slices from 6.12 on")
def test_slices_are_shortened_for_all_threads_and_restored_where_nobody_waits() -> None:
    done = subprocess.run([sys.executable, "-c", SLICES], capture_output=True, check=True, text=True)
    before, *shortened, after = done.stdout.split()
    assert shortened == [str(SLICE_NANOSECONDS)] * 2
    assert after == before != str(SLICE_NANOSECONDS)


def test_shortening_slices_fails_nowhere() -> None:
    unknown = "import platform; platform.machine = lambda: 'another'; "
    for before in ("", unknown):
        program = f"{before}from foldline.priority import shorten_slices; shorten_slices()"
        subprocess.run([sys.executable, "-c", program], check=True)
