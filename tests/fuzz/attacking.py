"""Hostile transcripts from a process of their own, which gets the processors after the service and its victim."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Final

from foldline.priority import lower_priority
from tests.fuzz.documented import FuzzedService
from tests.fuzz.hostile_requests import Findings, run_hostile

LOWEST_PRIORITY: Final = 19


def run_apart(
    service: FuzzedService,
    transcripts: range,
    seed: int,
    findings: Findings,
    on_sent: Callable[[], object],
    *,
    cpu_seconds_of_others: Callable[[], float],
) -> None:
    """Do as `run_hostile`.

    Raises:
        RuntimeError: the process broke off.
    """
    spawning = multiprocessing.get_context("spawn")
    ours, its = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_run, args=(service, transcripts, seed, cpu_seconds_of_others, its))
    process.start()
    its.close()
    try:
        for _ in range(transcripts.stop):
            findings.update(ours.recv())
            on_sent()
        process.join()
    except EOFError:
        message = "the process that sends hostile transcripts broke off"
        raise RuntimeError(message) from None
    finally:
        process.terminate()


def _run(
    service: FuzzedService,
    transcripts: range,
    seed: int,
    cpu_seconds_of_others: Callable[[], float],
    end: Connection,
) -> None:
    # Attackers have processors of their own; here theirs comes after the service's and the victim's.
    os.setsid()
    lower_priority(LOWEST_PRIORITY)
    findings = Findings()

    def report() -> None:
        end.send(findings)
        findings.clear()

    run_hostile(service, transcripts, seed, findings, report, cpu_seconds_of_others=cpu_seconds_of_others)
