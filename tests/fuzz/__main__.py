"""`python -m tests.fuzz`: requests that nobody would write, to real services; the exit code is 1 if one goes wrong.

Schemathesis sends requests of every kind that the OpenAPI document allows or forbids, to a service with keys and to one
without. Then hostile transcripts go through every route that takes one, while another tenant's turns are timed. One
that takes more than a second of CPU goes wrong, too, without what those turns take beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from rich.progress import Progress

from foldline.engine.wire import loads_bounded
from foldline.terminal import answers, notes
from tests.fuzz.attacking import run_apart
from tests.fuzz.documented import fuzzed_service, run_schemathesis
from tests.fuzz.hostile_requests import DATABASES, Findings, Processor, hostile_service
from tests.fuzz.victim import Victim, percentile

QUIET_SECONDS = 60.0
JSON_BYTES = 32 << 20
SHOWN = 40
SHOWN_OF_KIND = 5


def main() -> int:
    """Run both. Returns the exit code."""
    options = _options()
    failed = [has_keys for has_keys in (True, False) if options.requests and _documented(options, has_keys=has_keys)]
    is_good = not failed and (not options.transcripts or _hostile(options))
    return 0 if is_good else 1


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000, help="requests of Schemathesis, about")
    parser.add_argument("--transcripts", type=int, default=50_000, help="hostile transcripts")
    parser.add_argument("--first", type=int, default=0, help="leave out those before; one that begins a session")
    parser.add_argument("--database", choices=DATABASES, default="postgresql", help="where hostile transcripts go")
    parser.add_argument("--seed", type=int, default=1, help="other requests and transcripts")
    return parser.parse_args()


def _documented(options: Any, *, has_keys: bool) -> int:
    notes().print(f"Schemathesis, {'with' if has_keys else 'without'} keys")
    with _folder() as folder, fuzzed_service(folder, has_keys=has_keys) as service:
        return run_schemathesis(service, folder, options.requests // 2, options.seed)


def _hostile(options: Any) -> bool:
    answers().print(f"CPU to read {JSON_BYTES >> 20} MB of JSON on this machine: {_reading_json():.2f} s")
    with _folder() as folder, hostile_service(folder, options.database) as service:
        victim = Victim(service.url)
        # Its turns go on beside each request, and would count as that one's.
        quiet = victim.quiet(QUIET_SECONDS, Processor(service.process_id).seconds)
        found = Findings()
        try:
            with victim.during(), Progress(console=notes()) as progress:
                chosen = range(options.first, options.transcripts)
                task = progress.add_task("hostile transcripts", total=chosen.stop)
                run_apart(
                    service,
                    chosen,
                    options.seed,
                    found,
                    lambda: progress.advance(task),
                    cpu_seconds_of_others=victim.cpu_seconds,
                )
        finally:
            _print(found, quiet, victim)
    return not (found.wrong or found.slow)


def _reading_json() -> float:
    """The median seconds of CPU for a fixed piece of work: how fast this machine is."""
    written = json.dumps(["word " * 200] * (JSON_BYTES // 1000)).encode()

    def read() -> float:
        before = process_time()
        loads_bounded(written)
        return process_time() - before

    return median(read() for _ in range(9))


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _print(found: Findings, quiet: list[float], victim: Victim) -> None:
    console = answers()
    console.print(f"answers by status: {dict(sorted(found.statuses.items()))}")
    console.print(f"views held against their provider's rules: {found.views:,}")
    for name, seconds in (("quiet", quiet), ("attacked", victim.seconds)):
        p50, p99 = (percentile(seconds, share) * 1000 for share in (0.5, 0.99))
        console.print(f"another tenant's append, {name}: p50 {p50:.1f} ms, p99 {p99:.1f} ms, of {len(seconds):,}")
    console.print(f"its answers while attacked: {dict(victim.statuses)}")
    console.print(f"CPU of each of its turns: {victim.cpu_seconds_of_turn * 1000:.1f} ms, left out below")
    for taken, what in sorted(found.slow, reverse=True)[:SHOWN]:
        console.print(f"{taken:.1f} s of CPU: {what}", markup=False)
    for kind, lines in found.wrong.items():
        console.print(f"{len(lines):,} × {kind}", *lines[:SHOWN_OF_KIND], sep="\n  ", markup=False)
    wrong = sum(map(len, found.wrong.values()))
    console.print(f"{wrong:,} answers are wrong, {len(found.slow):,} requests took more than a second of CPU")


if __name__ == "__main__":
    sys.exit(main())
