"""`python -m benchmarks`: every row, one table, exit code 1 if a bound is missed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks import engine, http, log
from benchmarks.harness import measure, show


def main() -> int:
    """Measure all rows; the exit code."""
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as name, http.servers(Path(name)) as pair:
        rows = [*engine.rows(), *log.rows(Path(name)), *http.rows(pair)]
        return 0 if show(measure(row) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
