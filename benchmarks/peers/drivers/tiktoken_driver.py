"""tiktoken. `TIKTOKEN_CACHE_DIR` has its table, so that it fetches none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import tiktoken

from benchmarks.peers.drivers.timing import Job, Work, serve


def _count(job: Job) -> Callable[[], Work]:
    encoding = tiktoken.get_encoding("o200k_base")
    texts = json.loads(Path(job["texts"]).read_bytes())
    return lambda: lambda: sum(len(encoding.encode_ordinary(text)) for text in texts)


if __name__ == "__main__":
    serve({"count": _count}, int)
