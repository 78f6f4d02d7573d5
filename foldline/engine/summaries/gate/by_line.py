"""Checks of a story line by line; a line in which one finds something is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from foldline.engine.ledger.reading.specifics import Specific, specifics
from foldline.engine.ledger.section_lines import CONTENTS
from foldline.engine.summaries.gate.source import StorySource, all_words_of, folded, spelled
from foldline.engine.summaries.headings import Section

_BULLET: Final = re.compile(r"^\s*(?:[-*\N{BULLET}]\s+|\d{1,3}[.)]\s+)")
_HEADING_MARKS: Final = " \t#*_:.)0123456789"
_ENDS: Final = " .,;"
_PLACEHOLDER: Final = re.compile(
    r"[\[<](?:insert|your|the|a|describe|list|add|file ?name|what|name|path|summary)\b[^\])>]{0,60}[\]>]"
    r"|\((?:insert|your|describe)\b[^)]{0,60}\)"
    r"|\bTODO: (?:describe|fill|write)\b",
    re.IGNORECASE,
)
# Small models copy what the prompt says belongs below a heading. Fewer characters of it may stand in any line.
COPIED_CHARS: Final = 24
# Specifics of these forms are invented if nobody said them.
_NAMING: Final = frozenset(
    {"url", "email", "date", "time", "money", "percent", "path", "host", "version", "ticket", "constant"}
    | {"code", "hash", "mixed", "snake", "camel", "number"}
)
# Of several things in one, each may have been said for itself.
_PARTS: Final = re.compile(r"[^\s/`'\"()=,:;]+")
_ALTERNATIVES: Final = frozenset(
    {"and", "or", "he", "she", "his", "her", "yes", "no", "on", "off", "und", "oder", "et", "ou", "y", "o"}
)
_EDGES: Final = re.compile(r"[.,;:!?*)\]}]+\Z")
_UNIT: Final = re.compile(r"(\d+(?:\.\d+)?)[a-z\N{MICRO SIGN}%]{1,3}", re.IGNORECASE)
# A line says what was demanded if it shares so much of its words with the demand, and the demand so much with it.
BACKED: Final = 0.75
COVERED: Final = 0.25


class StoryLine(NamedTuple):
    """A line of a story without its bullet, and the section that it stands in."""

    text: str
    section: Section | None


def _is_placeholder(line: StoryLine, source: StorySource) -> bool:
    match = _PLACEHOLDER.search(line.text)
    return _is_copied(line, source) or (match is not None and not source.has(match[0]))


def _is_copied(line: StoryLine, source: StorySource) -> bool:
    said = folded(line.text).strip(_ENDS)
    return len(said) >= COPIED_CHARS and said in source.prompt and said not in source.text


def _is_no_rule(line: StoryLine, source: StorySource) -> bool:
    """Whether a line stands as a rule that nobody with authority set."""
    if line.section is not Section.RULES:
        return False
    said = folded(line.text)
    words = all_words_of(said)
    return not any(said in demand.text or _agree(words, demand.words) for demand in source.demands)


def _agree(words: frozenset[str], demanded: frozenset[str]) -> bool:
    shared = len(words & demanded)
    return shared >= BACKED * len(words) and shared >= COVERED * len(demanded)


def _invents(line: StoryLine, source: StorySource) -> bool:
    text = spelled(line.text)
    return any(_names(found) and not _was_said(found, source) for found in specifics(text, len(text)))


def _names(found: Specific) -> bool:
    """Whether a specific is a name or a number; words with dashes are one if they have digits."""
    if found.form == "flag":
        return found.text.startswith("--")
    return found.form in _NAMING or (found.form == "kebab" and not found.text.replace("-", "").isalpha())


def _was_said(found: Specific, source: StorySource) -> bool:
    name = _EDGES.sub("", found.text)
    if not name or any(map(source.has, (name, name.removesuffix("()"), name.removesuffix("("), name.lstrip("v")))):
        return True
    unit = _UNIT.fullmatch(name)
    if unit is not None:
        return source.has(unit[1])
    parts = _PARTS.findall(name)
    is_several = found.form in {"code", "path"} and len(parts) > 1
    return is_several and all(part in _ALTERNATIVES or source.has(part) for part in parts)


CHECKS: Final[Sequence[tuple[str, str, Callable[[StoryLine, StorySource], bool]]]] = (
    ("placeholder", "left to fill in", _is_placeholder),
    ("authority", "with rules that nobody set", _is_no_rule),
    ("invention", "with names or numbers that nobody said", _invents),
)


def read(text: str) -> Iterator[tuple[str, StoryLine | None]]:
    """The lines of a story as they are written, each with what it says; None for headings and blank lines."""
    content = None
    for written in text.split("\n"):
        said = _BULLET.sub("", written).strip()
        heading = CONTENTS.get(said.strip(_HEADING_MARKS).casefold())
        if heading is not None or not said:
            content = heading or content
            yield written, None
        else:
            section, below = content.read(said) if content else (None, said)
            yield written, StoryLine(below, section)
