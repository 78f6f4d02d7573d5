"""All rows of the gateway."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from benchmarks.gateway import recognition, streams, waiting
from benchmarks.harness import Row, Together


def rows(folder: Path) -> Generator[Row | Together, None, None]:
    """What agents wait for, the memory of open streams, and what grows with a conversation."""
    yield from waiting.rows(folder)
    yield from streams.rows(folder)
    yield from recognition.rows(folder)
