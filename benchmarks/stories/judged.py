"""Judges the stories of the set over ranges of conversations, and counts what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.fidelity.carriers import CARRIERS
from benchmarks.fidelity.conversation import pieces
from benchmarks.fidelity.facts import templates
from benchmarks.stories.bad import BAD
from benchmarks.stories.good import good_story
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.engine.summaries.gate import Story, judge
from foldline.engine.summaries.headings import HEADINGS, TURN
from foldline.engine.summaries.prompt import SummaryInput
from foldline.replay.transcripts import read_transcripts

GOOD: Final = "(good stories)"
# What is published, what without some of its lines, and what is not.
AS_IT_IS, PATCHED, REFUSED = FATES = ("published", "patched", "refused")
# The messages of a range, and the share of their tokens that a story may take.
RANGE: Final = (12, 60)
MAX_TOKENS: Final = 1_500
# Fewer lines than this leave nothing to write a story about.
LEAST_ITEMS: Final = 5


@dataclass(slots=True)
class Tally:
    """How many stories of each kind came to each fate, and what was published that should not be."""

    fates: dict[str, Counter[str]] = field(default_factory=dict)
    published_as_good: list[str] = field(default_factory=list)
    refused_good: list[str] = field(default_factory=list)

    def note(self, kind: str, fate: str) -> None:
        """Count one more."""
        self.fates.setdefault(kind, Counter())[fate] += 1


def conversations(files: Sequence[Path]) -> Iterator[list[Message]]:
    """The sessions of recorded files, or generated ones without any."""
    for path in files:
        for transcript in read_transcripts(path):
            yield FORMATS[transcript.format].parse(transcript.messages)
    if not files:
        for seed, carrier in enumerate(CARRIERS):
            said = [wire for piece in pieces(carrier, templates("development"), 2, seed) for wire in piece.messages]
            yield FORMATS["openai"].parse(said)


def ranges(messages: Sequence[Message], random: Random) -> Iterator[SummaryInput]:
    """A range of a conversation under the headings of each system."""
    for headings in HEADINGS:
        if headings != TURN:
            size = random.randint(*RANGE)
            start = random.randrange(max(1, len(messages) - size))
            request = SummaryInput((), tuple(messages[start : start + size]), MAX_TOKENS, headings=headings)
            if len(request.items) >= LEAST_ITEMS:
                yield request


def judged(files: Sequence[Path], seeds: int) -> Tally:
    """What became of bad stories of each kind, and of as many good ones."""
    tally = Tally()
    for seed in range(seeds):
        for number, messages in enumerate(conversations(files)):
            random = Random(f"{seed} {number}")
            for request in ranges(messages, random):
                _judge_bad(request, random, tally)
                _judge_good(request, random, tally)
    return tally


def _judge_bad(request: SummaryInput, random: Random, tally: Tally) -> None:
    for kind, make in BAD.items():
        answer = make(request, random)
        text = judge(Story(answer.text, answer.finish_reason), request).text
        fate = REFUSED if text is None else PATCHED if answer.poison else AS_IT_IS
        if text is not None and (not answer.poison or any(name in text for name in answer.poison)):
            fate = AS_IT_IS
            tally.published_as_good.append(f"{kind}: {answer.text[:200]!r}")
        tally.note(kind, fate)


def _judge_good(request: SummaryInput, random: Random, tally: Tally) -> None:
    story = good_story(request, random)
    found = judge(Story(story), request)
    if found.text is None:
        tally.refused_good.append(f"{found.reason}: {story[:200]!r}")
    tally.note(GOOD, REFUSED if found.text is None else PATCHED if found.findings else AS_IT_IS)
