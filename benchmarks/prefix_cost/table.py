"""The table of input costs by window and policy, with the bounds of the default policy, and the use of targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import Any, Final

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.harness import WIDTH
from benchmarks.prefix_cost.corpus import sessions
from benchmarks.prefix_cost.replay import Replayed, replayed, uncompacted, uses_of_target, with_room
from foldline.replay.transcripts import Transcript

WINDOWS: Final = (16_000, 32_000, 64_000)
OURS: Final = "foldline"
EVERYTHING: Final = "no compaction"
EARLIER: Final = "foldline 0.1"
# The default policy before it knew prices, in full.
_EARLIER: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "trigger": 0.80,
        "target": 0.50,
        "keep_recent": 0.30,
        "summary_share": 0.20,
        "minimum_saving": 0.05,
        "weighs_prefix": False,
        "stages": [{"name": "deduplicate"}, {"name": "prune", "minimum_tokens": 100}, "summarize", "truncate"],
    }
)
POLICIES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {OURS: {}, EARLIER: _EARLIER, "neurolink": {"preset": "neurolink"}, "pi": {"preset": "pi"}}
)
# The most that the default policy may cost, as a share of what each of these costs.
BOUNDS: Final = MappingProxyType({EARLIER: 0.80, EVERYTHING: 1.0, "neurolink": 1.0, "pi": 1.0})
TARGETS: Final = (0.3, 0.5, 0.7)
LEAST_USE, MOST_USE = 0.85, 1.0


def show() -> bool:
    """Print both tables; whether all bounds are kept."""
    found = sessions()
    costs = Table(
        "input cost, window", "policy", "calls", "units", "ours", "breaks", "missed", "summaries", "bound", ""
    )
    uses = Table("use of a target, window", "compactions", "median", "least", "most", "over", "bound", "")
    kept = [_add_costs(costs, found, window) for window in WINDOWS]
    kept += [_add_uses(uses, found, window) for window in WINDOWS]
    console = Console(width=WIDTH)
    console.print(f"Input of {len(found)} sessions. Units are tokens at the input price: cached 0.1, missed 1.25.")
    console.print(costs)
    console.print(uses)
    return all(kept)


def _add_costs(table: Table, found: Sequence[Transcript], window: int) -> bool:
    fixed = with_room(found, window, list(POLICIES.values()))
    held = [session for session in found if session.id in fixed]
    names = track(POLICIES, description=f"{window // 1000}k window", transient=True, console=Console(stderr=True))
    results = {name: replayed(held, window, POLICIES[name]) for name in names}
    results[EVERYTHING] = uncompacted(held, fixed)
    ours = results[OURS].cost.units
    kept = True
    for name, result in results.items():
        ratio, bound = ours / result.cost.units, BOUNDS.get(name)
        is_kept = bound is None or (ratio <= bound and not results[OURS].refused)
        kept &= is_kept
        verdict = "" if bound is None else "kept" if is_kept else "MISSED"
        limit = "" if bound is None else f"<= {bound:.2f}"
        table.add_row(f"{window // 1000}k", *_cells(name, result, ratio), limit, verdict)
    table.add_section()
    return kept


def _cells(name: str, result: Replayed, ratio: float) -> Iterator[str]:
    cost, summaries = result.cost, result.summaries
    yield f"{name}, {result.refused} refused" if result.refused else name
    yield f"{cost.calls:,}"
    yield f"{cost.units:,.0f}"
    yield f"{ratio:.3f}"
    yield f"{cost.breaks}"
    yield f"{cost.missed / (cost.missed + cost.cached):.1%}"
    yield f"{summaries.number}: {result.summary_units:,.0f}"


def _add_uses(table: Table, found: Sequence[Transcript], window: int) -> bool:
    uses = uses_of_target(found, window, TARGETS)
    middle = median(uses)
    over = sum(use > MOST_USE for use in uses)
    is_kept = middle >= LEAST_USE and not over
    cells = f"{len(uses)}", f"{middle:.3f}", f"{min(uses):.3f}", f"{max(uses):.3f}", f"{over}"
    bound = f"median >= {LEAST_USE}, none over {MOST_USE}"
    table.add_row(f"{window // 1000}k", *cells, bound, "kept" if is_kept else "MISSED")
    return is_kept
