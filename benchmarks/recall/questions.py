"""Plain questions about facts of a session, each made of some of the words of one line.

A line is a sentence, a line of output or a field of an object, with content words and something specific: a name, a
number, a path. One of its specifics is the answer and is left out of the question. The question has every other one of
the remaining content words, three to six, in their order, in a plain frame. Entries that have the line are right. A
question whose words all stand in more than `MOST_OTHERS` other entries is dropped: nobody could say which is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final

from foldline.engine.ledger.reading.specifics import specifics

LINE_CHARS: Final = (40, 300)
CHINESE_CHARS: Final = (14, 200)
WORDS: Final = (3, 6)
RUNS: Final = (2, 3)
RUN_CHARS: Final = 5
MOST_OTHERS: Final = 3
FRAMES: Final = (
    "What did we find out about {}?",
    "Do you remember what was said of {}?",
    "What was it with {}?",
    "Once more: {}?",
)
# The marks of Chinese text have names here, as some look like those of other text.
_MARK: Final = "\N{FULLWIDTH QUESTION MARK}"
_ENDS: Final = f"\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH EXCLAMATION MARK}{_MARK}"
CHINESE_FRAMES: Final = (f"之前说过什么关于{{}}{_MARK}", f"之前提到的{{}}是什么{_MARK}")
_PIECES: Final = re.compile(rf"\n|(?<=[.!?{_ENDS}])\s+|(?<=[{_ENDS}])|, (?=\")|\\n")
_WORD: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*[A-Za-z0-9_]")
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]{2,}")
# Too common to be asked for.
_COMMON_WORDS: Final = """
the and for that this with you your are was were have has had not but from they will can would should could there their
what when which who how all any been being our out into its than then them these those also just like some more about
here now one two get got let please need want make made using used use does did done very
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids of the entries that have its line, and the answer that the question leaves out."""

    text: str
    entries: frozenset[str]
    line: str
    answer: str


def questions(texts: Mapping[str, str], count: int, seed: int) -> list[Question]:
    """Up to `count` questions about these texts, by the ids of their entries; equal for an equal seed."""
    chance = Random(seed)
    lines = [(name, line) for name, text in texts.items() for line in _lines(text)]
    chance.shuffle(lines)
    asked = (_question(texts, line, chance) for _, line in lines)
    return list(islice(_distinct(asked), count))


def _distinct(asked: Iterator[Question | None]) -> Iterator[Question]:
    seen: set[str] = set()
    for question in asked:
        if question is not None and question.line not in seen:
            seen.add(question.line)
            yield question


def _lines(text: str) -> Iterator[str]:
    for piece in _PIECES.split(text):
        line = piece.strip()
        least, most = CHINESE_CHARS if _CHINESE.search(line) else LINE_CHARS
        if least <= len(line) <= most:
            yield line


def _question(texts: Mapping[str, str], line: str, chance: Random) -> Question | None:
    found = [specific.text for specific in specifics(line)]
    if not found:
        return None
    answer = chance.choice(found)
    rest = line.replace(answer, " ")
    words, frames = (_runs(rest), CHINESE_FRAMES) if _CHINESE.search(line) else (_words(rest, chance), FRAMES)
    if not words:
        return None
    right = frozenset(name for name, text in texts.items() if line in text)
    others = sum(name not in right and all(word in text for word in words) for name, text in texts.items())
    if others > MOST_OTHERS:
        return None
    return Question(chance.choice(frames).format(" ".join(words)), right, line, answer)


def _words(text: str, chance: Random) -> Sequence[str]:
    content = list(dict.fromkeys(word for word in _WORD.findall(text) if len(word) > 2 and _is_content(word)))
    least, most = WORDS
    chosen = content[chance.randrange(2) :: 2][:most]
    return chosen if len(chosen) >= least else ()


def _is_content(word: str) -> bool:
    return word.lower() not in _COMMON and not word.isdecimal()


def _runs(text: str) -> Sequence[str]:
    least, most = RUNS
    runs = [run[:RUN_CHARS] for run in _CHINESE.findall(text)][:most]
    return runs if len(runs) >= least else ()
