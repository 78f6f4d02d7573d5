"""Times two sides in turn, computes their ratio round by round, and prints the table of results."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.progress import track
from rich.table import Table

ROUNDS: Final = 11
WIDTH: Final = 140


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement with a bound: `ours` against `theirs`, each timed once in each round.

    The ratio of their seconds, ours / theirs, may be `at_most`. `ours_at_most_seconds` is an additional bound for ours.
    """

    name: str
    ours: str
    theirs: str
    time_ours: Callable[[], float]
    time_theirs: Callable[[], float]
    at_most: float
    ours_at_most_seconds: float = math.inf
    rounds: int = ROUNDS

    @property
    def bound(self) -> str:
        """The bounds as text for the table."""
        lines = [f"<= {self.at_most:.3f}"]
        if math.isfinite(self.ours_at_most_seconds):
            lines.append(f"<= {_human(self.ours_at_most_seconds)}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Result:
    """A row's times in seconds, round by round."""

    row: Row
    ours: list[float]
    theirs: list[float]

    @property
    def ours_median(self) -> float:
        return statistics.median(self.ours)

    @property
    def theirs_median(self) -> float:
        return statistics.median(self.theirs)

    @property
    def ratio(self) -> float:
        """Median of ours over median of theirs."""
        return self.ours_median / self.theirs_median

    @property
    def spread(self) -> tuple[float, float]:
        """The smallest and largest ratio of a single round."""
        ratios = [ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True)]
        return min(ratios), max(ratios)

    @property
    def is_kept(self) -> bool:
        """Whether the bounds hold."""
        return self.ratio <= self.row.at_most and self.ours_median <= self.row.ours_at_most_seconds


def seconds(work: Callable[[], object]) -> float:
    """The seconds of one run of `work`."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(row: Row) -> Result:
    """Time both sides in turn: one warm-up round, then the rounds that count. They alternate in going first."""
    row.time_ours()
    row.time_theirs()
    ours: list[float] = []
    theirs: list[float] = []
    for number in track(range(row.rounds), description=row.name, transient=True, console=Console(stderr=True)):
        sides = [(ours, row.time_ours), (theirs, row.time_theirs)]
        for times, run in sides if number % 2 else reversed(sides):
            times.append(run())
    return Result(row, ours, theirs)


def show(results: Iterable[Result]) -> bool:
    """Print the table. Returns whether every bound holds."""
    table = Table("row", "ours (median)", "against (median)", "ratio", "spread", "bound", "")
    is_all_kept = True
    for result in results:
        low, high = result.spread
        table.add_row(
            result.row.name,
            f"{_human(result.ours_median)}\n{result.row.ours}",
            f"{_human(result.theirs_median)}\n{result.row.theirs}",
            f"{result.ratio:.3f}",
            f"{low:.3f} - {high:.3f}",
            result.row.bound,
            "kept" if result.is_kept else "MISSED",
        )
        is_all_kept = is_all_kept and result.is_kept
    Console(width=WIDTH).print(table)
    return is_all_kept


def _human(duration: float) -> str:
    return f"{duration * 1e3:.2f} ms" if duration >= 1e-3 else f"{duration * 1e6:.1f} µs"
