"""What simple ways to choose keep of the same characters: the table's rows beside Foldline's."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from benchmarks.fidelity.conversation import text_of
from benchmarks.fidelity.facts import Fact

JsonDict = dict[str, Any]
_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_CUES: Final = re.compile(
    r"\b(?:must|never|always|don't|do not|only|should|please|decided|because|error|fail|fix|set|changed|created|due"
    r"|prefer|todo|port|order|refund)\w*",
    re.IGNORECASE,
)


def _newest(messages: Sequence[JsonDict], chars: int) -> str:
    return "\n".join(map(text_of, messages))[-chars:]


def _head_and_tail(messages: Sequence[JsonDict], chars: int) -> str:
    text = "\n".join(map(text_of, messages))
    return f"{text[: chars // 2]}\n{text[-(chars // 2) :]}"


def _users_words(messages: Sequence[JsonDict], chars: int) -> str:
    said = "\n".join(text_of(message)[:400] for message in messages if message["role"] == "user")
    return said[-chars:] if len(said) > chars else f"{said}\n{_newest(messages, chars - len(said))}"


def _rare_words(messages: Sequence[JsonDict], chars: int) -> str:
    lines = list(_lines(messages))
    counts = Counter(word for line in lines for word in set(_WORD.findall(line.casefold())))
    return _best(lines, chars, lambda line: _rarity(line, counts, len(lines)))


def _cue_words(messages: Sequence[JsonDict], chars: int) -> str:
    return _best(list(_lines(messages)), chars, lambda line: len(_CUES.findall(line)) / (len(line) + 20))


BASELINES: Final[Mapping[str, Callable[[Sequence[JsonDict], int], str]]] = {
    "newest": _newest,
    "head and tail": _head_and_tail,
    "user's words first": _users_words,
    "rare words": _rare_words,
    "cue words": _cue_words,
}


def perfect(facts: Iterable[Fact], chars: int) -> str:
    """What a writer who knows the facts would write: the needles of each in one line, as many as there is room for."""
    text = ""
    for line in sorted((" ".join(fact.needles) for fact in facts), key=len):
        if len(text) + len(line) >= chars:
            break
        text += f"{line}\n"
    return text


def _lines(messages: Sequence[JsonDict]) -> Iterable[str]:
    return dict.fromkeys(
        line.strip()[:400] for message in messages for line in _SENTENCE.split(text_of(message)) if line.strip()
    )


def _best(lines: Sequence[str], chars: int, worth: Callable[[str], float]) -> str:
    chosen: list[str] = []
    for line in sorted(lines, key=worth, reverse=True):
        if len(line) < chars:
            chosen.append(line)
            chars -= len(line) + 1
    return "\n".join(chosen)


def _rarity(line: str, counts: Counter[str], total: int) -> float:
    words = set(_WORD.findall(line.casefold()))
    return sum(math.log(total / counts[word]) for word in words) / (len(line) + 20)
