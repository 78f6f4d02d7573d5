"""Judges a view: which facts it has, which replaced values it gives as current, and what it invents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from benchmarks.fidelity.facts import Fact

# Needles that are farther apart do not belong together any more.
NEAR_CHARS: Final = 300
_NUMBER: Final = re.compile(r"[A-Za-z0-9_./:-]*\d[A-Za-z0-9_./:-]*")
_EDGES: Final = "./:-"


def has_fact(view: str, fact: Fact) -> bool:
    """Whether all needles of the fact occur within `NEAR_CHARS` of its rarest one, whatever their case."""
    text = view.casefold()
    needles = [needle.casefold() for needle in fact.needles]
    rarest = min(needles, key=text.count)
    return any(
        all(_occurs(needle, text[max(0, at - NEAR_CHARS) : at + len(rarest) + NEAR_CHARS]) for needle in needles)
        for at in _places(rarest, text)
    )


def gives_stale(lines: Iterable[str], fact: Fact) -> bool:
    """Whether one of these lines gives the fact's replaced value as current: it has the old value without the new."""
    new = [needle.casefold() for needle in fact.needles if needle not in fact.subject]
    for line in map(str.casefold, lines):
        is_about = all(_occurs(needle.casefold(), line) for needle in fact.subject)
        has_old = any(_occurs(old.casefold(), line) for old in fact.stale)
        if is_about and has_old and not all(_occurs(needle, line) for needle in new):
            return True
    return False


def invented(lines: Iterable[str], originals: str) -> set[str]:
    """The numbers and identifiers with digits in these lines that the originals do not have."""
    found = {word.strip(_EDGES) for line in lines for word in _NUMBER.findall(line)}
    return {word for word in found if word not in originals}


def survival(view: str, facts: Sequence[Fact]) -> float:
    """The share of the facts that the view has."""
    return sum(has_fact(view, fact) for fact in facts) / len(facts) if facts else 1.0


def _occurs(needle: str, text: str) -> bool:
    return next(_places(needle, text), None) is not None


def _places(needle: str, text: str) -> Iterator[int]:
    """The places at which a needle occurs as whole words."""
    before, after = (r"(?<!\w)" if needle[0].isalnum() else ""), (r"(?!\w)" if needle[-1].isalnum() else "")
    return (match.start() for match in re.finditer(before + re.escape(needle) + after, text))
