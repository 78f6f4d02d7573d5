"""headroom's `compress`, without a model: what its default does on a machine that has none."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from headroom import compress

from benchmarks.peers.drivers.timing import Job, Work, characters, serve, transcript


def _compress(job: Job) -> Callable[[], Work]:
    messages = transcript(job)

    def prepare() -> Work:
        copied = deepcopy(messages)
        return lambda: compress(copied, model="gpt-4o", model_limit=job["window"]).messages

    return prepare


if __name__ == "__main__":
    serve({"compact": _compress}, characters)
