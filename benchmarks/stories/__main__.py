"""Judges bad and good stories, and prints what became of each kind: `python -m benchmarks.stories [FILE...]`.

The files are transcripts; without any, conversations are generated. The exit code is 1 if a bad story was published as
good, or more than 2 % of the good ones were refused.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.stories.judged import FATES, GOOD, REFUSED, Tally, judged

SEEDS: Final = 3
MOST_REFUSED: Final = 0.02
MOST_SHOWN: Final = 20


def _table(tally: Tally) -> Table:
    table = Table("kind of story", *FATES, title="What the gate made of stories")
    for kind, fates in tally.fates.items():
        table.add_row(kind, *(str(fates[fate]) for fate in FATES))
    return table


def main() -> int:
    """Judge, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stories", description="What the gate makes of stories.")
    parser.add_argument("files", nargs="*", type=Path, help="transcripts; without any, conversations are generated")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="times that each conversation is gone through")
    options = parser.parse_args()
    tally = judged(options.files, options.seeds)
    console = Console()
    console.print(_table(tally))
    for line in (*tally.published_as_good[:MOST_SHOWN], *tally.refused_good[:MOST_SHOWN]):
        console.print(line, markup=False)
    good = tally.fates[GOOD]
    refused = good[REFUSED] / good.total()
    console.print(f"published as good: {len(tally.published_as_good)}; good ones refused: {refused:.1%}")
    return int(bool(tally.published_as_good) or refused > MOST_REFUSED)


if __name__ == "__main__":
    sys.exit(main())
