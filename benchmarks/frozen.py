"""The row of appends while the broker does not answer, against appends while it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.harness import Row, percentile
from benchmarks.http import append_all, new_session
from stack.stack import Stack

SESSIONS: Final = 16
# The trigger is reached after about half of them, and a job is queued.
APPENDS_EACH: Final = 25
MODEL: Final = {"model": "openai/gpt-4o", "context_window": 4_000}
ROUNDS: Final = 7


def rows(stack: Stack) -> Iterator[Row]:
    """The row. There is no worker, so the jobs wait and only appending takes time."""

    def time_quiet() -> float:
        sessions = [new_session(stack.api_url, MODEL) for _ in range(SESSIONS)]
        return percentile(append_all(sessions, APPENDS_EACH), 99)

    def time_frozen() -> float:
        stack["broker"].freeze()
        try:
            return time_quiet()
        finally:
            stack["broker"].thaw()

    yield Row(
        name="append while the broker is frozen",
        ours="p99, some queue a job",
        theirs="p99 with a broker that answers",
        time_ours=time_frozen,
        time_theirs=time_quiet,
        at_most=1.25,
        rounds=ROUNDS,
    )
