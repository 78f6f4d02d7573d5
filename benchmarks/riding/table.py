"""The table of what riding saves, by window, policy and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from types import MappingProxyType
from typing import Any, Final

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.harness import WIDTH
from benchmarks.riding.replay import Rides, rides
from foldline.replay.transcripts import Transcript

WINDOWS: Final = (32_000, 64_000)
# The default policy edits results before it has summaries written; the other one has nothing but summaries.
POLICIES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {"foldline": {}, "summaries alone": {"stages": ["summarize", "truncate"]}}
)
MODELS: Final = MappingProxyType(
    {
        "anthropic/claude-sonnet-4-5": "anthropic",
        "openai/gpt-5.1": "openai",
        "google/gemini-2.5-pro": "gemini",
    }
)
# The most that the view may cost in the middle, as a share of the transcript.
BOUND: Final = 0.5
# A spread of fewer says nothing.
FEWEST: Final = 4


def show(sessions: Sequence[Transcript]) -> bool:
    """Print the table; whether riding costs at most `BOUND` of the transcript in the middle of every row."""
    table = Table(
        "riding the prefix, window", "policy", "model", "summaries", "can ride", "cheaper", "view / transcript",
        "middle half", "all summaries", "bound", "",
    )  # fmt: skip
    rows = [(window, policy, model) for window in WINDOWS for policy in POLICIES for model in MODELS]
    kept = True
    for window, policy, model in track(rows, transient=True, console=Console(stderr=True)):
        found = rides(sessions, window, POLICIES[policy], model, MODELS[model])
        is_kept = not found.ratios or median(found.ratios) <= BOUND
        kept &= is_kept
        name = model.rpartition("/")[2]
        verdict = "kept" if is_kept else "MISSED"
        table.add_row(f"{window // 1000}k", policy, name, *_cells(found), f"<= {BOUND}", verdict)
    console = Console(width=WIDTH)
    console.print(f"Summaries of {len(sessions)} sessions by their own model, by published prices.")
    console.print(table)
    return kept


def _cells(found: Rides) -> list[str]:
    ratios = found.ratios
    low, _, high = (
        quantiles(ratios, n=4) if len(ratios) >= FEWEST else (min(ratios, default=0), 0, max(ratios, default=0))
    )
    return [
        f"{found.summaries}",
        f"{len(ratios)}",
        f"{found.cheaper}",
        f"{median(ratios):.2f}" if ratios else "",
        f"{low:.2f}-{high:.2f}" if ratios else "",
        f"{found.paid / found.without:.2f}" if found.without else "",
    ]
