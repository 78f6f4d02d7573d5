"""Writes the lines chosen for a summary under the headings of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from foldline.engine.ledger.assemble import Assembled, LedgerLine, assembled
from foldline.engine.ledger.choice.brief import brief
from foldline.engine.ledger.choice.choose import Choice, choose
from foldline.engine.ledger.choice.terse import terse
from foldline.engine.ledger.items import SPOKEN, ItemAt, ItemKind
from foldline.engine.ledger.provenance import Provenance, provenance_of
from foldline.engine.ledger.reading.lines import cut_to_tokens
from foldline.engine.ledger.section_lines import ARROW, LinePlace, places
from foldline.engine.summaries.headings import Section
from foldline.engine.tokens.counter import count_text

# What stands above the rules if they did not all fit.
DROPPED: Final = "- ({count} older rules did not fit.)"
NOTHING: Final = "(nothing was said)"
# With fewer tokens there are no headings, as they would leave no room for content.
HEADED_TOKENS: Final = 64


class Written(NamedTuple):
    """A summary: its text, the lines that were chosen for it, and what it was made of."""

    text: str
    choice: Choice
    provenance: Provenance


def summary_of(items: Iterable[ItemAt], max_tokens: int, headings: str) -> Written:
    """A summary of these items, each with its place, within `max_tokens`."""
    return summary_of_lines(assembled(items), max_tokens, headings)


def summary_of_lines(found: Assembled, max_tokens: int, headings: str) -> Written:
    """The same for the lines that `assembled` made of the items."""
    lines, gone = found
    under = places(headings) if max_tokens >= HEADED_TOKENS else {}
    written = texts_for(lines, under, max_tokens)
    above = {section: sum(count_text(f"{line}\n") for line in place.headings) for section, place in under.items()}
    choice = choose(lines, written.tokens, max_tokens, above)
    while choice.lines and count_text(text := _text(choice, under, written.texts)) > max_tokens:
        choice.drop_last()
    if choice.lines:
        shown = [(line, written.texts[line.order]) for line in _in_order(choice.lines, under)]
    else:
        text = cut_to_tokens(lines[-1].text if lines else NOTHING, max_tokens)
        shown = [(line, text) for line in lines[-1:]]
    return Written(text, choice, provenance_of(shown, lines, gone))


def _in_order(lines: Sequence[LedgerLine], under: Mapping[Section, LinePlace]) -> list[LedgerLine]:
    """The lines in the order of the headings."""
    return [line for section in under for line in _of(section, lines)] if under else list(lines)


def _of(section: Section, lines: Sequence[LedgerLine]) -> list[LedgerLine]:
    return [line for line in lines if line.section is section]


class LineTexts(NamedTuple):
    """The text of each line as it would stand in a summary, and its tokens with the bullet, by the lines' `order`."""

    texts: dict[int, str]
    tokens: dict[int, int]


def texts_for(lines: Sequence[LedgerLine], under: Mapping[Section, LinePlace], max_tokens: int) -> LineTexts:
    """Lines as they are written below headings; if they do not all fit into `max_tokens`, sentences are brief.

    The user's rules stay word for word.
    """
    texts = {line.order: _marked(line.section, line.text, under) for line in lines}
    tokens = {order: _tokens(text) for order, text in texts.items()}
    if sum(tokens.values()) > max_tokens:
        for line in lines:
            if line.item.kind in SPOKEN and line.item.kind is not ItemKind.RULE:
                said = brief(line.text)
                if line.item.kind is ItemKind.SAID and not line.is_open and ARROW not in line.text:
                    said = terse(said)
                if len(said) < len(line.text):
                    texts[line.order] = _marked(line.section, said, under)
                    tokens[line.order] = _tokens(texts[line.order])
    return LineTexts(texts, tokens)


def _tokens(text: str) -> int:
    return count_text(f"- {text}\n")


def _marked(section: Section, text: str, under: Mapping[Section, LinePlace]) -> str:
    """A line as it stands below its heading, with a mark if it would pass for another section's."""
    return under[section].content.written(section, text) if under else text


def _text(choice: Choice, under: Mapping[Section, LinePlace], texts: Mapping[int, str]) -> str:
    lines, dropped = choice.lines, choice.dropped_rules
    if not under:
        return "\n".join(f"- {texts[line.order]}" for line in lines)
    written: list[str] = []
    for section, place in under.items():
        chosen = _of(section, lines)
        if chosen:
            written += [heading for heading in place.headings if heading not in written]
            if section is Section.RULES and dropped:
                written.append(DROPPED.format(count=dropped))
            written += (f"- {texts[line.order]}" for line in chosen)
    return "\n".join(written)
