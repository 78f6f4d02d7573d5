"""Writes the lines chosen for a summary under the headings of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from foldline.engine.ledger.assemble import LedgerLine, assemble
from foldline.engine.ledger.brief import brief
from foldline.engine.ledger.choose import Choice, choose
from foldline.engine.ledger.items import SPOKEN, ItemAt, ItemKind
from foldline.engine.ledger.reading.lines import cut_to_tokens
from foldline.engine.ledger.section_lines import LinePlace, places
from foldline.engine.summaries.headings import Section
from foldline.engine.tokens.counter import count_text

# What stands above the rules if they did not all fit.
DROPPED: Final = "- ({count} older rules did not fit.)"
NOTHING: Final = "(nothing was said)"
# With fewer tokens there are no headings, as they would leave no room for content.
HEADED_TOKENS: Final = 64


def summary_of(items: Iterable[ItemAt], max_tokens: int, headings: str) -> tuple[str, Choice]:
    """The text of a summary of these items, each with its place, within `max_tokens`; and what it was made of."""
    lines = assemble(items)
    under = places(headings) if max_tokens >= HEADED_TOKENS else {}
    written = written_for(lines, under, max_tokens)
    above = {section: sum(count_text(f"{line}\n") for line in place.headings) for section, place in under.items()}
    choice = choose(lines, written.tokens, max_tokens, above)
    while choice.lines and count_text(text := _text(choice, under, written.texts)) > max_tokens:
        choice.drop_last()
    if choice.lines:
        return text, choice
    best = next((line.text for line in reversed(lines)), NOTHING)
    return cut_to_tokens(best, max_tokens), choice


class Written(NamedTuple):
    """The text of each line as it would stand in a summary, and its tokens with the bullet, by the lines' `order`."""

    texts: dict[int, str]
    tokens: dict[int, int]


def written_for(lines: Sequence[LedgerLine], under: Mapping[Section, LinePlace], max_tokens: int) -> Written:
    """Lines as they are written below headings; if they do not all fit into `max_tokens`, sentences are brief.

    The user's rules stay word for word.
    """
    texts = {line.order: _marked(line.section, line.text, under) for line in lines}
    tokens = {order: _tokens(text) for order, text in texts.items()}
    if sum(tokens.values()) > max_tokens:
        for line in lines:
            if line.item.kind in SPOKEN and line.item.kind is not ItemKind.RULE:
                said = brief(line.text)
                if len(said) < len(line.text):
                    texts[line.order] = _marked(line.section, said, under)
                    tokens[line.order] = _tokens(texts[line.order])
    return Written(texts, tokens)


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
        chosen = [line for line in lines if line.section is section]
        if chosen:
            written += [heading for heading in place.headings if heading not in written]
            if section is Section.RULES and dropped:
                written.append(DROPPED.format(count=dropped))
            written += (f"- {texts[line.order]}" for line in chosen)
    return "\n".join(written)
