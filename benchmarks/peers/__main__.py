"""`python -m benchmarks.peers [MESSAGES]`: the rows against peers alone; sessions have 10,000 messages or so many."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from benchmarks.harness import Row, Together, show
from benchmarks.peers import long_session, rows


def main(messages: int = long_session.MESSAGES) -> int:
    """Measure and print the rows. The exit code is 1 if a bound is missed."""
    with tempfile.TemporaryDirectory(prefix="foldline-peers-") as name, closing(_rows(Path(name), messages)) as found:
        return 0 if show(found) else 1


def _rows(folder: Path, messages: int) -> Generator[Row | Together, None, None]:
    yield from rows.rows(folder)
    yield from long_session.rows(folder, messages)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
