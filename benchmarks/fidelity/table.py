"""The table of survival by share of the text and number of rounds, beside simple ways to choose, with its bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from types import MappingProxyType
from typing import Any, Final

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.fidelity import judge
from benchmarks.fidelity.baselines import BASELINES, perfect
from benchmarks.fidelity.carriers import CARRIERS
from benchmarks.fidelity.conversation import pieces, size_of
from benchmarks.fidelity.drive import Seen, Session, rounds
from benchmarks.fidelity.facts import Fact, templates
from benchmarks.harness import WIDTH
from foldline.replay.embedded import embedded_service

JsonDict = dict[str, Any]
SHARES: Final = (0.10, 0.15, 0.20)
ROUNDS: Final = (5, 20)
SEEDS: Final = 2
OURS: Final = "foldline"
RULES: Final = "foldline: rules"
RECALLED: Final = "foldline: or by one recall"
PERFECT: Final = "a perfect writer"
# The least survival after the last round, by share of the text.
LEAST: Final[Mapping[float, float]] = MappingProxyType({0.10: 0.85, 0.15: 0.95, 0.20: 0.95})
# How far survival may fall from the first round to the twentieth.
MOST_LOST: Final = 0.05


@dataclass(slots=True)
class Cell:
    """What was found at one share and number of rounds: survival by row, one value a conversation."""

    first: dict[str, list[float]] = field(default_factory=dict)
    last: dict[str, list[float]] = field(default_factory=dict)
    sizes: list[float] = field(default_factory=list)
    stale: int = 0
    invented: set[str] = field(default_factory=set)
    missing: dict[str, list[Fact]] = field(default_factory=dict)

    def add(self, values: dict[str, list[float]], name: str, value: float) -> None:
        """Add the survival that a row has in one conversation."""
        values.setdefault(name, []).append(value)


def show(set_name: str, *, summarizer: str | None = None, is_verbose: bool = False) -> bool:
    """Print the table for a set of templates; whether all bounds are kept.

    `summarizer` is the address of the model that writes stories; without one, summaries are the ledger alone.
    """
    console = Console(width=WIDTH)
    found = templates(set_name)
    with (
        _writing(summarizer),
        embedded_service() as url,
        httpx.Client(base_url=url, timeout=120, trust_env=False) as http,
    ):
        work = [(number, share) for number in ROUNDS for share in SHARES]
        cells = {
            (number, share): measured(http, found, number, share)
            for number, share in track(
                work, description="rounds and shares", console=Console(stderr=True), transient=True
            )
        }
    console.print(
        f"Facts of {len(found)} templates ({set_name}) that survive: means over {SEEDS} conversations of each carrier."
    )
    table = Table("rounds", "row", *(f"{share:.0%}: first  last  least" for share in SHARES))
    for number in ROUNDS:
        for name in (OURS, RULES, RECALLED, PERFECT, *BASELINES):
            table.add_row(str(number), name, *(_figures(cells[number, share], name) for share in SHARES))
        table.add_section()
    console.print(table)
    kept = [_verdict(console, number, share, cells[number, share]) for number, share in work]
    if is_verbose:
        _show_missing(console, cells)
    return all(kept)


@contextmanager
def _writing(base_url: str | None) -> Iterator[None]:
    """A block in which services that are started have their stories written at this address."""
    settings = {"": "openai", "_BASE_URL": base_url or "", "_MODEL": "any"} if base_url else {}
    own = {f"FOLDLINE_SUMMARIZER{name}": value for name, value in settings.items()}
    before = {name: value for name, value in os.environ.items() if name.startswith("FOLDLINE_SUMMARIZER")}
    for name in before:
        del os.environ[name]
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            del os.environ[name]
        os.environ.update(before)


def measured(http: httpx.Client, found: Sequence[JsonDict], number: int, share: float) -> Cell:
    """The survival in conversations of every carrier, after the first and after the last of `number` rounds."""
    cell = Cell()
    for carrier in CARRIERS:
        for seed in range(SEEDS):
            made = pieces(carrier, found, number, seed)
            chars, said, settled = size_of(made[0].messages) * share, list[Fact](), list[Fact]()
            for index, (session, seen) in enumerate(rounds(http, made, share)):
                said += made[index].said
                settled += made[index].settled
                if index in {0, number}:
                    messages = [message for piece in made[: index + 1] for message in piece.messages]
                    _judge(cell, session, seen, messages, Expected(current(said, settled), int(chars), index > 0))
                    cell.stale += sum(judge.gives_stale(seen.lines, fact) for fact in settled if fact.stale)
                    cell.sizes.append(len(seen.text) / (chars / share))
    return cell


def current(said: Sequence[Fact], settled: Sequence[Fact]) -> list[Fact]:
    """The facts that can be known: those whose newest value or resolution has been said."""
    return [fact for fact in said if not fact.later or fact in settled]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a view of so many characters should have."""

    facts: Sequence[Fact]
    chars: int
    is_last: bool


def _judge(cell: Cell, session: Session, seen: Seen, messages: Sequence[JsonDict], expected: Expected) -> None:
    facts, chars, is_last = expected.facts, expected.chars, expected.is_last
    values = cell.last if is_last else cell.first
    lost = [fact for fact in facts if not judge.has_fact(seen.text, fact)]
    cell.add(values, OURS, 1 - len(lost) / len(facts))
    rules = [fact for fact in facts if fact.is_rule]
    cell.add(values, RULES, judge.survival(seen.text, rules))
    recalled = [fact for fact in lost if judge.has_fact(session.recall(" ".join(fact.needles[:1])), fact)]
    cell.add(values, RECALLED, 1 - (len(lost) - len(recalled)) / len(facts))
    cell.add(values, PERFECT, judge.survival(perfect(facts, chars), facts))
    for name, choose in BASELINES.items():
        cell.add(values, name, judge.survival(choose(messages, chars), facts))
    cell.invented |= judge.invented(seen.lines, "\n".join(map(str, messages)))
    for fact in lost if is_last else ():
        cell.missing.setdefault(fact.kind, []).append(fact)


def _figures(cell: Cell, name: str) -> str:
    first, last = cell.first[name], cell.last[name]
    return f"{fmean(first):6.1%} {fmean(last):6.1%} {min(last):6.1%}"


def _verdict(console: Console, number: int, share: float, cell: Cell) -> bool:
    first, last = fmean(cell.first[OURS]), fmean(cell.last[OURS])
    bounds = {
        f"survival {last:.1%} >= {LEAST[share]:.0%}": last >= LEAST[share],
        f"rules {fmean(cell.last[RULES]):.1%} = 100%": fmean(cell.last[RULES]) == 1,
        f"in view or by one recall {fmean(cell.last[RECALLED]):.1%} = 100%": fmean(cell.last[RECALLED]) == 1,
        f"given as current though replaced {cell.stale} = 0": not cell.stale,
        f"invented {len(cell.invented)} = 0": not cell.invented,
        f"lost since the first round {first - last:.1%} <= {MOST_LOST:.0%}": first - last <= MOST_LOST,
        f"view {fmean(cell.sizes):.1%} of the text <= {share:.0%}": fmean(cell.sizes) <= share,
    }
    marks = "; ".join(f"{text}{'' if is_kept else ' MISSED'}" for text, is_kept in bounds.items())
    console.print(f"{number} rounds at {share:.0%}: {marks}")
    return all(bounds.values())


def _show_missing(console: Console, cells: Mapping[Any, Cell]) -> None:
    for (number, share), cell in cells.items():
        for kind, facts in sorted(cell.missing.items(), key=lambda found: -len(found[1])):
            console.print(f"{number} rounds at {share:.0%}, {kind}: {len(facts)} missing", style="bold")
            for line in sorted({" | ".join(fact.needles) for fact in facts}):
                console.print(f"  {line}", markup=False, highlight=False)
        if cell.invented:
            console.print(f"invented: {sorted(cell.invented)[:20]}", markup=False)
