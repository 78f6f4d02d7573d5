"""A process for which nobody waits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from foldline.priority import NICENESS

PROGRAM = """
import os, pathlib
from foldline.priority import lower_priority
lower_priority()
of_session = pathlib.Path("/proc/self/autogroup")
print(os.nice(0), of_session.read_text().split()[-1] if of_session.exists() else "none")
"""


def priorities(*, leads_session: bool) -> list[str]:
    """The niceness of a process that lowered its priority, and of its session."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, start_new_session=leads_session, capture_output=True, check=True, text=True)
    return done.stdout.split()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of sessions")
def test_the_priority_of_a_process_and_of_the_session_that_it_leads() -> None:
    own, of_session = priorities(leads_session=True)
    assert (own, of_session) == (str(NICENESS), str(NICENESS) if Path("/proc/self/autogroup").exists() else "none")


def test_a_session_that_another_process_leads_keeps_its_priority() -> None:
    own, of_session = priorities(leads_session=False)
    assert (own, of_session == str(NICENESS)) == (str(NICENESS), False)
