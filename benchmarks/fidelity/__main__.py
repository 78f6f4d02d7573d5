"""`python -m benchmarks.fidelity`: the table of what survives; the exit code is 1 if a bound is missed.

The templates that count are those held out of development. `--set development` looks at the others, `--verbose` lists
what is missing. With `--story` a model writes stories; `forgetful` is one that loses everything.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext

from benchmarks.fidelity.forgetful import forgetful_model
from benchmarks.fidelity.table import show

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure which planted facts survive compactions.")
    parser.add_argument("--set", choices=("held_out", "development"), default="held_out", help="the templates to plant")
    parser.add_argument("--verbose", action="store_true", help="list the facts that are missing, by kind")
    parser.add_argument(
        "--story", metavar="URL", help="who writes stories: an OpenAI-compatible address with /v1, or `forgetful`"
    )
    options = parser.parse_args()
    with forgetful_model() if options.story == "forgetful" else nullcontext(options.story) as url:
        is_kept = show(options.set, summarizer=url, is_verbose=options.verbose)
    sys.exit(0 if is_kept else 1)
