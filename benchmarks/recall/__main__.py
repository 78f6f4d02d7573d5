"""`python -m benchmarks.recall`: the table of what recalls find; the exit code is 1 if the bound is missed.

`--seed` chooses the questions: 1 are those that count, others are for development. `--verbose` lists what is missed.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.recall.table import show

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure what recalls find in recorded sessions.")
    parser.add_argument("--seed", type=int, default=1, help="the choice of questions")
    parser.add_argument("--verbose", action="store_true", help="list the facts that are missed")
    options = parser.parse_args()
    sys.exit(0 if show(options.seed, is_verbose=options.verbose) else 1)
