"""Which lines were replaced: a later one gives a new value of the same thing, or says what ended an error."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from foldline.engine.ledger.items import SPOKEN, ItemKind, Speaker
from foldline.engine.ledger.reading.languages import language_of
from foldline.engine.ledger.reading.specifics import VALUES, Specific

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
# Forms of values that name nothing.
_NO_NAMES: Final = frozenset({"number", "time", "weekday", "date", "percent", "money", "version"})
# A line is compared with this many later ones that share a word with it.
MOST_COMPARED: Final = 40
LEAST_SHARED: Final = 2
SHARED_OF: Final = 0.5
# A summary reads the lines of the last one again, so what was read is kept for so many texts.
MOST_READ: Final = 4_096


def replaced(lines: Sequence[LedgerLine]) -> set[int]:
    """The indexes of the lines that later lines replace."""
    by_word: dict[str, list[int]] = {}
    known: dict[int, _Subject] = {}
    gone: set[int] = set()
    for index, line in enumerate(lines):
        is_spoken = line.item.kind in SPOKEN and line.item.speaker is not Speaker.TOOL
        if not is_spoken and not line.is_failing:
            continue
        subject = known[index] = _Subject(line)
        named = (*subject.names, *subject.words)
        is_new, resolves = signs(line.text) if is_spoken else (False, False)
        if is_new or resolves:
            near = dict.fromkeys(other for word in named for other in reversed(by_word.get(word, [])[-MOST_COMPARED:]))
            gone.update(
                other
                for other in near
                if (is_new and _replaces(subject, known[other]))
                or (lines[other].is_failing and _same_error(line, lines[other]))
            )
        for word in named:
            by_word.setdefault(word, []).append(index)
    return gone


@lru_cache(maxsize=MOST_READ)
def signs(text: str) -> tuple[bool, bool]:
    """Whether a text says that a value is new, and whether it says what ended an error."""
    language, lower = language_of(text), text.lower()
    return language.marks("replaces", lower), language.marks("resolves", lower)


@lru_cache(maxsize=MOST_READ)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _EMPTY_WORDS


def _same_error(line: LedgerLine, failing: LedgerLine) -> bool:
    """Whether a line that says what ended an error names this one."""
    own = {found.text for found in line.found}
    return any(found.text in own for found in failing.found if found.form in {"camel", "acronym", "constant"})


class _Subject:
    """What a line is about: its words, its names and identifiers, and the values in it by form."""

    def __init__(self, line: LedgerLine) -> None:
        self.line = line
        self.words = _words(line.text)
        self._units: dict[str, Mapping[str, str]] = {}
        self.names = frozenset(found.text.casefold() for found in line.found if found.form not in _NO_NAMES)

    @cached_property
    def forms(self) -> Mapping[str, list[Specific]]:
        """The specifics of each form."""
        forms: dict[str, list[Specific]] = {}
        for found in self.line.found:
            forms.setdefault(found.form, []).append(found)
        return forms

    def units(self, form: str) -> Mapping[str, str]:
        """The values of a form, each with its unit or name."""
        if form not in self._units:
            text = self.line.text
            self._units[form] = {found.text: _unit(text, found.start, found.text) for found in self.forms[form]}
        return self._units[form]

    def texts(self, forms: Collection[str]) -> set[str]:
        """The values of these forms."""
        return {found.text for found in self.line.found if found.form in forms}


def _is_demand(subject: _Subject) -> bool:
    """Whether only the user can take it back."""
    return subject.line.item.kind in {ItemKind.RULE, ItemKind.REQUEST, ItemKind.PREFERENCE}


def _replaces(new: _Subject, old: _Subject) -> bool:
    if old.line.item.kind not in SPOKEN or (_is_demand(old) and new.line.item.speaker is not Speaker.USER):
        return False
    changed = _changed_forms(new, old)
    if not changed:
        return False
    of_old = old.texts(changed)
    values = {text.casefold() for text in of_old | new.texts(changed)}
    names, shared = (old.names & new.names) - values, (old.words & new.words) - values
    mentions_old = any(text in new.line.text for text in of_old)
    least = 1 if mentions_old else LEAST_SHARED
    if old.names - values:
        return names == old.names - values or (mentions_old and bool(names))
    smaller = min(len(old.words - values), len(new.words - values))
    return len(shared) >= least and len(shared) >= SHARED_OF * min(smaller, 4)


def _changed_forms(new: _Subject, old: _Subject) -> set[str]:
    """The forms of values of which the new line has another than the old one, in the same unit.

    What can be a value and a name, such as a path, counts only if nothing that can be a value alone has changed.
    """
    both = new.forms.keys() & old.forms.keys()
    for forms in VALUES if both else ():
        changed = {form for form in forms & both if _has_changed(new, old, form)}
        if changed:
            return changed
    return set()


def _has_changed(new: _Subject, old: _Subject, form: str) -> bool:
    olds = {found.text for found in old.forms[form]}
    if all(found.text in olds for found in new.forms[form]):
        return False
    units = old.units(form).values()
    return any(
        value not in olds and _is_same_unit(unit, other) for value, unit in new.units(form).items() for other in units
    )


def _unit(text: str, start: int, value: str) -> str:
    if match := _UNITS.match(text, start + len(value)):
        return match[1].lower().rstrip("s")
    named = _NAMED.search(text[max(0, start - 24) : start])
    return named[1].lower() if named else ""


def _is_same_unit(one: str, other: str) -> bool:
    return one == other or not one or not other
