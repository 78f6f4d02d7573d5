"""The table of what recalls find, by file of recorded sessions, with its bound."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.harness import WIDTH
from benchmarks.prefix_cost.corpus import RECORDED, STORED
from benchmarks.recall.drive import Answered, Session
from benchmarks.recall.questions import Question, questions
from foldline.replay.embedded import embedded_service
from foldline.replay.transcripts import Transcript, read_transcripts

FACTS: Final = 500
TOP: Final = 5
LEAST_FOUND: Final = 0.95


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a session of a file, and its answer."""

    file: str
    question: Question
    answered: Answered

    @property
    def place(self) -> int:
        """The place of the first right entry, from 0; a large number if there is none."""
        entries = self.answered.entries
        return next((place for place, name in enumerate(entries) if name in self.question.entries), len(entries) + TOP)


def show(seed: int, *, is_verbose: bool = False, folder: Path = RECORDED) -> bool:
    """Print the table; whether the bound is kept. Without recorded sessions, it says what it needs."""
    console = Console(width=WIDTH)
    recorded = [(file.stem, session) for file in _files(folder) for session in read_transcripts(file)]
    # What short sessions cannot supply is made up for by longer ones.
    recorded.sort(key=lambda found: len(found[1].messages))
    if not recorded:
        console.print(f"recall is measured on recorded sessions: JSON Lines of OpenAI chat messages in {folder}")
        return True
    with embedded_service() as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        asked = list(_asked(http, recorded, seed, console))
    _print_table(console, asked)
    for missed in asked if is_verbose else ():
        if missed.place >= TOP:
            console.print(f"{missed.file}: {missed.question.text}\n  {missed.question.line}", markup=False)
    return _share(asked, TOP) >= LEAST_FOUND


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.jsonl") if STORED not in file.suffixes)


def _asked(
    http: httpx.Client, recorded: Sequence[tuple[str, Transcript]], seed: int, console: Console
) -> Iterator[Asked]:
    # Long sessions get more questions, as there is more to find, and short ones enough to count.
    roots = [math.sqrt(len(session.messages)) for _, session in recorded]
    left = FACTS
    for index, (file, transcript) in enumerate(track(recorded, console=console, transient=True)):
        session = Session(http, transcript)
        share = round(left * roots[index] / sum(roots[index:]))
        for question in questions(session.texts_out_of_view(), share, seed + index):
            left -= 1
            yield Asked(file, question, session.recall(question.text))


def _print_table(console: Console, asked: Sequence[Asked]) -> None:
    table = Table("sessions", "facts", "first", f"top {TOP}", "answer in the text", "median ms")
    for file in sorted({one.file for one in asked}):
        table.add_row(file, *_figures([one for one in asked if one.file == file]))
    table.add_section()
    table.add_row("all", *_figures(asked))
    console.print(table)
    verdict = "" if _share(asked, TOP) >= LEAST_FOUND else " MISSED"
    console.print(f"the entry in the top {TOP}: {_share(asked, TOP):.1%} >= {LEAST_FOUND:.0%}{verdict}")


def _figures(asked: Sequence[Asked]) -> list[str]:
    has_answer = sum(one.question.answer in one.answered.text for one in asked) / len(asked)
    taken = median(one.answered.seconds for one in asked) * 1000
    return [
        str(len(asked)), f"{_share(asked, 1):.1%}", f"{_share(asked, TOP):.1%}", f"{has_answer:.1%}", f"{taken:.1f}"
    ]  # fmt: skip


def _share(asked: Sequence[Asked], places: int) -> float:
    return sum(one.place < places for one in asked) / len(asked)
