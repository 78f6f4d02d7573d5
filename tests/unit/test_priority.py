"""A process for which nobody waits."""

from __future__ import annotations

import os
import subprocess
import sys

from foldline.priority import NICENESS

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
