"""Times two sides in turn, computes their ratio round by round, and prints the table of results."""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from rich.console import Console
from rich.progress import track
from rich.table import Table

ROUNDS: Final = 11
FAILED: Final = "failed"
WIDTH: Final = 140

Timer: TypeAlias = Callable[[], float]


def _duration(duration: float) -> str:
    return f"{duration * 1e3:.2f} ms" if duration >= 1e-3 else f"{duration * 1e6:.1f} µs"


class NotMeasurable(Exception):
    """A side of a row cannot be run on this machine."""

    def __init__(self, side: str, reason: str) -> None:
        super().__init__(f"{side} {reason}")


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement with a bound: `ours` against `theirs`, both measured in each round, in seconds or as `written`.

    The ratio of the two, ours / theirs, may be `at_most`. `ours_at_most` is a bound for ours alone, `more_at_most` one
    for how much more ours is than theirs. Without a bound, the row only informs.
    """

    name: str
    ours: str
    theirs: str
    time_ours: Timer
    time_theirs: Timer
    at_most: float = math.inf
    ours_at_most: float = math.inf
    more_at_most: float = math.inf
    rounds: int = ROUNDS
    written: Callable[[float], str] = _duration

    @property
    def sides(self) -> tuple[Timer, Timer]:
        """What times ours, and what times theirs."""
        return self.time_ours, self.time_theirs

    @property
    def bound(self) -> str:
        """The bounds as text for the table."""
        lines = [f"<= {self.at_most:.3f}"] if math.isfinite(self.at_most) else []
        if math.isfinite(self.ours_at_most):
            lines.append(f"<= {self.written(self.ours_at_most)}")
        if math.isfinite(self.more_at_most):
            lines.append(f"<= {self.written(self.more_at_most)} more")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Together:
    """Rows with sides in common: each side is timed once in a round, for all of them.

    Rows that take long may do without a round to warm up.
    """

    rows: tuple[Row, ...]
    rounds: int = ROUNDS
    is_warmed_up: bool = True


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
        row = self.row
        is_close = self.ours_median - self.theirs_median <= row.more_at_most
        return self.ratio <= row.at_most and self.ours_median <= row.ours_at_most and is_close


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A row with a side that cannot be run on this machine, or that failed, and the reason."""

    row: Row
    reason: str

    @property
    def is_kept(self) -> bool:
        """Whether nothing is wrong: a machine may lack a peer."""
        return not self.reason.startswith(FAILED)


def seconds(work: Callable[[], object]) -> float:
    """The seconds of one run of `work`."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def percentile(times: Sequence[float], percent: int) -> float:
    """The time within which `percent` percent of some requests, from 1 to 99, were answered."""
    return statistics.quantiles(times, n=100)[percent - 1]


def measure(found: Row | Together) -> Iterator[Result | Unmeasured]:
    """Time the sides in turn: one warm-up round, then the rounds that count. They alternate in going first."""
    together = found if isinstance(found, Together) else Together((found,), found.rounds)
    sides = _Sides(together.rows)
    if together.is_warmed_up:
        sides.run(is_counted=False)
    name = together.rows[0].name
    for _ in track(range(together.rounds), description=name, transient=True, console=Console(stderr=True)):
        sides.run()
    yield from map(sides.result, together.rows)


class _Sides:
    """The different sides of some rows, with their times; a side that cannot be run has a reason instead."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        # If theirs is not there, nobody has to wait for ours.
        self._order = list(dict.fromkeys([*(row.time_theirs for row in rows), *(row.time_ours for row in rows)]))
        self._times: dict[Timer, list[float]] = {side: [] for side in self._order}
        self._reasons: dict[Timer, str] = {}

    def run(self, *, is_counted: bool = True) -> None:
        """Time each side that a row still needs, the other way round than the last time."""
        for side in self._order:
            if any(side in row.sides and self._reason(row) is None for row in self._rows):
                self._time(side, is_counted=is_counted)
        self._order.reverse()

    def result(self, row: Row) -> Result | Unmeasured:
        """What was measured for one of the rows."""
        reason = self._reason(row)
        if reason is not None:
            return Unmeasured(row, reason)
        return Result(row, self._times[row.time_ours], self._times[row.time_theirs])

    def _time(self, side: Timer, *, is_counted: bool) -> None:
        try:
            taken = side()
        except NotMeasurable as error:
            self._reasons[side] = str(error)
            return
        except Exception as error:  # noqa: BLE001 - the other rows took their time, and have their results
            self._reasons[side] = f"{FAILED}: {error!r}"
            return
        if is_counted:
            self._times[side].append(taken)

    def _reason(self, row: Row) -> str | None:
        return next((self._reasons[side] for side in row.sides if side in self._reasons), None)


def show(rows: Iterable[Row | Together]) -> bool:
    """Measure the rows and print the table, also what could not be measured. Returns whether every bound holds."""
    table = Table("row", "ours (median)", "against (median)", "ratio", "spread", "bound", "")
    is_all_kept = True
    for result in chain.from_iterable(map(measure, rows)):
        cells = _unmeasured(result) if isinstance(result, Unmeasured) else _cells(result)
        table.add_row(*cells)
        # A run takes long; if it is stopped, these lines are left.
        sys.stderr.write(" | ".join(cell.replace("\n", ", ") for cell in cells) + "\n")
        is_all_kept = is_all_kept and result.is_kept
    Console(width=WIDTH).print(table)
    return is_all_kept


def _unmeasured(result: Unmeasured) -> list[str]:
    theirs = f"{result.row.theirs}\n{result.reason}"
    return [result.row.name, result.row.ours, theirs, "", "", "", "NOT MEASURED"]


def _cells(result: Result) -> list[str]:
    low, high = result.spread
    return [
        result.row.name,
        f"{result.row.written(result.ours_median)}\n{result.row.ours}",
        f"{result.row.written(result.theirs_median)}\n{result.row.theirs}",
        f"{result.ratio:.3f}",
        f"{low:.3f} - {high:.3f}",
        result.row.bound,
        ("kept" if result.is_kept else "MISSED") if result.row.bound else "",
    ]
