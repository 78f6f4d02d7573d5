"""Writes the lines chosen for a summary under the headings of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from foldline.engine.ledger.assemble import Assembled, LedgerLine, assembled
from foldline.engine.ledger.choose import Choice, choose
from foldline.engine.ledger.items import ItemAt
from foldline.engine.ledger.provenance import Provenance, provenance_of
from foldline.engine.ledger.reading.lines import cut_to_tokens
from foldline.engine.ledger.section_lines import LinePlace, places
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
    costs = {section: sum(count_text(f"{line}\n") for line in place.headings) for section, place in under.items()}
    choice = choose(lines, max_tokens, costs, lambda line: _written(line, under))
    while choice.lines and count_text(text := _text(choice.lines, under, choice.dropped_rules)) > max_tokens:
        choice.drop_last()
    if choice.lines:
        shown = [(line, _written(line, under)) for line in _in_order(choice.lines, under)]
    else:
        text = cut_to_tokens(lines[-1].text if lines else NOTHING, max_tokens)
        shown = [(line, text) for line in lines[-1:]]
    return Written(text, choice, provenance_of(shown, lines, gone))


def _in_order(lines: Sequence[LedgerLine], under: Mapping[Section, LinePlace]) -> list[LedgerLine]:
    """The lines in the order of the headings."""
    return [line for section in under for line in _of(section, lines)] if under else list(lines)


def _of(section: Section, lines: Sequence[LedgerLine]) -> list[LedgerLine]:
    return [line for line in lines if line.section is section]


def _text(lines: Sequence[LedgerLine], under: Mapping[Section, LinePlace], dropped: int) -> str:
    if not under:
        return "\n".join(f"- {line.text}" for line in lines)
    written: list[str] = []
    for section, place in under.items():
        chosen = _of(section, lines)
        if chosen:
            written += [heading for heading in place.headings if heading not in written]
            if section is Section.RULES and dropped:
                written.append(DROPPED.format(count=dropped))
            written += (f"- {_written(line, under)}" for line in chosen)
    return "\n".join(written)


def _written(line: LedgerLine, under: Mapping[Section, LinePlace]) -> str:
    """A line as it stands below its heading, with a mark if it would pass for another section's."""
    return under[line.section].content.written(line.section, line.text) if under else line.text
