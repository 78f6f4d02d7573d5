"""`python -m benchmarks.fidelity.rules`: which labelled sentences are found to be standing rules, in figures.

Each sentence is the only one of a user's message, and goes the way of all messages. Of the sentences held out of
development only these figures are printed, never a sentence.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.harness import WIDTH
from foldline.engine.ledger.find import items_of
from foldline.engine.ledger.items import ItemKind
from foldline.engine.messages import user

SETS: Final = Path(__file__).parent / "sets"
NAMES: Final = ("development", "held_out")
LEAST_RECALL: Final = 0.95
LEAST_PRECISION: Final = 0.90
Row = Mapping[str, str]


def rows(name: str) -> list[Row]:
    """The labelled sentences of a set: `language`, `label` (`rule` or `none`), `kind` and `text`."""
    return [json.loads(line) for line in (SETS / f"rules_{name}.jsonl").read_text("utf-8").splitlines() if line]


def outcomes(labelled: Sequence[Row]) -> list[tuple[bool, bool]]:
    """For each sentence, whether it is a rule and whether it is taken for one."""
    return [(row["label"] == "rule", _is_found(row["text"])) for row in labelled]


def _is_found(text: str) -> bool:
    return any(item.kind is ItemKind.RULE for item in items_of(user(text)))


def recall(pairs: Sequence[tuple[bool, bool]]) -> float:
    """The share of the rules that are found; 1 if there are none."""
    found = [is_found for is_rule, is_found in pairs if is_rule]
    return sum(found) / len(found) if found else 1.0


def precision(pairs: Sequence[tuple[bool, bool]]) -> float:
    """The share of what is found that are rules; 1 if nothing is found."""
    rules = [is_rule for is_rule, is_found in pairs if is_found]
    return sum(rules) / len(rules) if rules else 1.0


def show() -> None:
    """Print both sets: by language, rules by kind, and what else is taken for a rule by kind."""
    console = Console(width=WIDTH)
    for name in NAMES:
        labelled = rows(name)
        pairs = outcomes(labelled)
        console.print(_by_language(name, labelled, pairs))
        console.print(_by_kind(name, labelled, pairs))


def _by_language(name: str, labelled: Sequence[Row], pairs: Sequence[tuple[bool, bool]]) -> Table:
    groups = {"all": list(pairs)}
    for row, pair in zip(labelled, pairs, strict=True):
        groups.setdefault(row["language"], []).append(pair)
    table = Table("language", "rules", "others", "recall", "precision", title=f"{len(pairs)} sentences, {name}")
    for language, group in groups.items():
        rules = sum(is_rule for is_rule, _ in group)
        table.add_row(language, str(rules), str(len(group) - rules), f"{recall(group):.3f}", f"{precision(group):.3f}")
    return table


def _by_kind(name: str, labelled: Sequence[Row], pairs: Sequence[tuple[bool, bool]]) -> Table:
    found: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for row, (_, is_found) in zip(labelled, pairs, strict=True):
        found[row["label"], row["kind"]][is_found] += 1
    table = Table("label", "kind", "sentences", "taken for rules", title=name)
    for (label, kind), counts in sorted(found.items(), reverse=True):
        table.add_row(label, kind, str(counts.total()), str(counts[True]))
    return table


if __name__ == "__main__":
    show()
