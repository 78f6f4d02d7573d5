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


class NotMeasurable(Exception):
    """A side of a row cannot be run on this machine."""

    def __init__(self, side: str, reason: str) -> None:
        super().__init__(f"{side} {reason}")


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement with a bound: `ours` against `theirs`, each timed once in each round.

    The ratio of their seconds, ours / theirs, may be `at_most`; without it, the row only informs.
    `ours_at_most_seconds` is an additional bound for ours. Rows that take long may do without a round to warm up.
    """

    name: str
    ours: str
    theirs: str
    time_ours: Callable[[], float]
    time_theirs: Callable[[], float]
    at_most: float = math.inf
    ours_at_most_seconds: float = math.inf
    rounds: int = ROUNDS
    is_warmed_up: bool = True

    @property
    def bound(self) -> str:
        """The bounds as text for the table."""
        lines = [f"<= {self.at_most:.3f}"] if math.isfinite(self.at_most) else []
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


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A row with a side that cannot be run on this machine, and the reason."""

    row: Row
    reason: str


def seconds(work: Callable[[], object]) -> float:
    """The seconds of one run of `work`."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(row: Row) -> Result | Unmeasured:
    """Time both sides in turn: one warm-up round, then the rounds that count. They alternate in going first."""
    try:
        return _measured(row)
    except NotMeasurable as error:
        return Unmeasured(row, str(error))


def _measured(row: Row) -> Result:
    if row.is_warmed_up:
        # Theirs may not be there, and then nothing has to be waited for.
        row.time_theirs()
        row.time_ours()
    ours: list[float] = []
    theirs: list[float] = []
    for number in track(range(row.rounds), description=row.name, transient=True, console=Console(stderr=True)):
        sides = [(ours, row.time_ours), (theirs, row.time_theirs)]
        for times, run in sides if number % 2 else reversed(sides):
            times.append(run())
    return Result(row, ours, theirs)


def show(results: Iterable[Result | Unmeasured]) -> bool:
    """Print the table, and what could not be measured. Returns whether every measured bound holds."""
    table = Table("row", "ours (median)", "against (median)", "ratio", "spread", "bound", "")
    is_all_kept = True
    for result in results:
        if isinstance(result, Unmeasured):
            table.add_row(
                result.row.name, result.row.ours, f"{result.row.theirs}\n{result.reason}", "", "", "", "NOT MEASURED"
            )
            continue
        table.add_row(*_cells(result))
        is_all_kept = is_all_kept and result.is_kept
    Console(width=WIDTH).print(table)
    return is_all_kept


def _cells(result: Result) -> list[str]:
    low, high = result.spread
    return [
        result.row.name,
        f"{_human(result.ours_median)}\n{result.row.ours}",
        f"{_human(result.theirs_median)}\n{result.row.theirs}",
        f"{result.ratio:.3f}",
        f"{low:.3f} - {high:.3f}",
        result.row.bound,
        ("kept" if result.is_kept else "MISSED") if result.row.bound else "",
    ]


def _human(duration: float) -> str:
    return f"{duration * 1e3:.2f} ms" if duration >= 1e-3 else f"{duration * 1e6:.1f} µs"
