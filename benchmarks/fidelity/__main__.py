"""`python -m benchmarks.fidelity`: the table of what survives; the exit code is 1 if a bound is missed.

The templates that count are those held out of development. `--set development` looks at the others, `--verbose` lists
what is missing.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.fidelity.table import show

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure which planted facts survive compactions.")
    parser.add_argument("--set", choices=("held_out", "development"), default="held_out", help="the templates to plant")
    parser.add_argument("--verbose", action="store_true", help="list the facts that are missing, by kind")
    options = parser.parse_args()
    sys.exit(0 if show(options.set, is_verbose=options.verbose) else 1)
