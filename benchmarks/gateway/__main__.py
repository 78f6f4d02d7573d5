"""`python -m benchmarks.gateway`: the rows of the gateway alone."""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path

from benchmarks.gateway.rows import rows
from benchmarks.harness import show


def main() -> int:
    """Measure and print the rows. The exit code is 1 if a bound is missed."""
    with tempfile.TemporaryDirectory(prefix="foldline-gateway-") as name, closing(rows(Path(name))) as found:
        return 0 if show(found) else 1


if __name__ == "__main__":
    sys.exit(main())
