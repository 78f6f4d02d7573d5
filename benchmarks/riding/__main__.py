"""`python -m benchmarks.riding [FILE...]`: the table of costs; the exit code is 1 if the bound is missed.

The files are transcripts; without any, those of `benchmarks.prefix_cost` are replayed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.prefix_cost.corpus import sessions
from benchmarks.riding.table import show
from foldline.replay.transcripts import read_transcripts


def main() -> int:
    """Replay the sessions, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.riding", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="transcripts; without any, those of the input costs")
    files = parser.parse_args().files
    given = [session for file in files for session in read_transcripts(file)]
    return 0 if show(given or sessions()) else 1


if __name__ == "__main__":
    sys.exit(main())
