"""Transcripts that nobody should send, to a real service: a small part of `make fuzz`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.hostile_requests import DATABASES, Findings, Processor, hostile_service, run_hostile
from tests.fuzz.victim import Victim

TRANSCRIPTS = 60


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("database", "seed"), [*zip(DATABASES, (27, 1), strict=True)])
def test_hostile_transcripts_get_answers_and_views_that_providers_accept(
    tmp_path: Path, database: str, seed: int
) -> None:
    found = Findings()
    with hostile_service(tmp_path, database) as service:
        run_hostile(service, range(TRANSCRIPTS), seed, found)
    assert found.wrong == {}
    assert found.views > 2 * TRANSCRIPTS
    assert {200, 201, 422} <= set(found.statuses)


def test_what_a_service_takes_of_the_processor_counts_its_processes() -> None:
    # It computes for a second, says so and waits.
    work = "import time\nwhile time.process_time() < 1: pass\nprint(flush=True)\ninput()"
    ours = Processor(os.getpid())
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        alone = ours.seconds()
        ours.look_again()
        assert ours.seconds() - alone > 0.9
        process.kill()
    # Without the process that ended.
    assert ours.seconds() - alone < 0.9


def test_the_turns_of_another_tenant_are_left_out_of_what_a_request_takes() -> None:
    victim = Victim("")
    victim.turns.value, victim.cpu_seconds_of_turn = 3, 0.5
    assert victim.cpu_seconds() == 1.5
