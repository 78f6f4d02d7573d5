"""Which lines were replaced: a later one gives a new value of the same thing, or says what ended an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from foldline.engine.ledger.items import SPOKEN, Speaker
from foldline.engine.ledger.reading.languages import language_of
from foldline.engine.ledger.reading.specifics import VALUES

if TYPE_CHECKING:
    from foldline.engine.ledger.assemble import LedgerLine

_WORD: Final = re.compile(r"[^\W\d_]{3,30}")
_EMPTY_WORDS: Final = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "from",
        "now",
        "its",
        "was",
        "are",
        "has",
        "have",
        "had",
        "you",
        "your",
        "our",
        "not",
        "but",
        "all",
        "any",
        "set",
        "make",
        "them",
        "they",
        "will",
        "then",
        "than",
        "please",
        "should",
        "must",
        "can",
        "could",
        "would",
        "instead",
        "actually",
        "correction",
        "sorry",
        "wait",
        "changed",
        "moved",
        "change",
        "updated",
        "update",
        "new",
        "after",
        "too",
        "small",
        "large",
        "again",
        "everywhere",
        "rather",
        "into",
        "onto",
        "over",
        "under",
        "use",
        "used",
        "using",
        "let",
        "lets",
        "too",
        "also",
        "just",
        "still",
        "there",
        "here",
        "when",
        "what",
        "which",
        "who",
        "how",
        "why",
        "been",
        "being",
        "did",
        "does",
        "done",
        "got",
        "get",
        "goes",
        "going",
        "only",
        "one",
        "two",
        "per",
        "via",
        "same",
        "other",
        "another",
    ]
)
_UNITS: Final = re.compile(
    r"\s?(ms|milliseconds?|s|secs?|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|years?|[kKMG]i?B|gigabytes?|retries|words|lines|items|workers|"
    r"people|seats|passengers|pages|rows|tests|files|users|nodes|replicas|threads|attempts|tokens|guests|nights|tickets|bags)\b"
)
_NAMED: Final = re.compile(
    r"\b(port|version|page|line|step|issue|gate|room|seat|table|row|stage|limit|budget|timeout|ttl|size)\W{1,3}(?:\w{1,6}\W)?\Z",
    re.IGNORECASE,
)
# A line is compared with this many later ones that share a word with it.
MOST_COMPARED: Final = 40
LEAST_SHARED: Final = 2
SHARED_OF: Final = 0.5


def replaced(lines: Sequence[LedgerLine]) -> set[int]:
    """The indexes of the lines that later lines replace."""
    subjects = [_subject(line) for line in lines]
    by_word: dict[str, list[int]] = {}
    gone: set[int] = set()
    for index, line in enumerate(lines):
        is_spoken = line.item.kind in SPOKEN and line.item.speaker is not Speaker.TOOL
        if not is_spoken and not line.is_failing:
            continue
        words, identifiers = subjects[index]
        named = (*identifiers, *words)
        is_new = is_spoken and _is_news(line.text)
        if is_new or (is_spoken and _resolves(line.text)):
            near = dict.fromkeys(other for word in named for other in reversed(by_word.get(word, [])[-MOST_COMPARED:]))
            gone.update(
                other
                for other in near
                if (is_new and _replaces(line, subjects[index], lines[other], subjects[other]))
                or (lines[other].is_failing and _same_error(line, lines[other]))
            )
        for word in named:
            by_word.setdefault(word, []).append(index)
    return gone


def _is_news(text: str) -> bool:
    return language_of(text).marks("replaces", text.lower())


def _resolves(text: str) -> bool:
    return language_of(text).marks("resolves", text.lower())


def _same_error(line: LedgerLine, failing: LedgerLine) -> bool:
    """Whether a line that says what ended an error names this one."""
    own = {found.text for found in line.found}
    return any(found.text in own for found in failing.found if found.form in {"camel", "acronym", "constant"})


def _replaces(new: LedgerLine, new_subject: _Subject, old: LedgerLine, old_subject: _Subject) -> bool:
    if old.item.kind not in SPOKEN:
        return False
    changed = _changed_forms(new, old)
    if not changed:
        return False
    new_words, new_names = new_subject
    old_words, old_names = old_subject
    values = {found.text.casefold() for line in (new, old) for found in line.found if found.form in changed}
    names, shared = (old_names & new_names) - values, (old_words & new_words) - values
    mentions_old = any(found.text in new.text for found in old.found if found.form in changed)
    least = 1 if mentions_old else LEAST_SHARED
    if old_names - values:
        return names == old_names - values or (mentions_old and bool(names))
    smaller = min(len(old_words - values), len(new_words - values))
    return len(shared) >= least and len(shared) >= SHARED_OF * min(smaller, 4)


def _changed_forms(new: LedgerLine, old: LedgerLine) -> set[str]:
    """The forms of values of which the new line has another than the old one, in the same unit.

    What can be a value and a name, such as a path, counts only if nothing that can be a value alone has changed.
    """
    for forms in VALUES:
        changed = {form for form in forms if _has_changed(new, old, form)}
        if changed:
            return changed
    return set()


def _has_changed(new: LedgerLine, old: LedgerLine, form: str) -> bool:
    news, olds = _values(new, form), _values(old, form)
    return any(value not in olds and _is_same_unit(news[value], unit) for value in news for unit in olds.values())


def _values(line: LedgerLine, form: str) -> dict[str, str]:
    """The values of a form in a line, each with its unit or name."""
    return {found.text: _unit(line.text, found.start, found.text) for found in line.found if found.form == form}


def _unit(text: str, start: int, value: str) -> str:
    if match := _UNITS.match(text, start + len(value)):
        return match[1].lower().rstrip("s")
    named = _NAMED.search(text[max(0, start - 24) : start])
    return named[1].lower() if named else ""


def _is_same_unit(one: str, other: str) -> bool:
    return one == other or not one or not other


_Subject = tuple[frozenset[str], frozenset[str]]


def _subject(line: LedgerLine) -> _Subject:
    """The words that a line is about, and the names and identifiers in it."""
    names = frozenset(
        found.text.casefold()
        for found in line.found
        if found.form not in {"number", "time", "weekday", "date", "percent", "money", "version"}
    )
    words = frozenset(word for word in _WORD.findall(line.text.casefold()) if word not in _EMPTY_WORDS)
    return words, names
