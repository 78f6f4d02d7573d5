"""`python -m benchmarks.prefix_cost`: these tables alone; the exit code is 1 if a bound is missed."""

from __future__ import annotations

import sys

from benchmarks.prefix_cost.table import show

if __name__ == "__main__":
    sys.exit(0 if show() else 1)
