"""The user's standing rules in a summary that somebody else wrote: what it lacks of them stands above it, verbatim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from foldline.engine.ledger.assemble import Assembled, LedgerLine
from foldline.engine.ledger.choice.render import HEADED_TOKENS, summary_of_lines
from foldline.engine.ledger.items import ItemKind
from foldline.engine.summaries.headings import Section
from foldline.engine.tokens.counter import count_text

# Tokens for the blank line between the rules and the story; tokens may also merge differently across it.
SEAM: Final = 4
# Bullets, and the mark of a rule among other lines.
_MARKS: Final = re.compile(rf"^\s*(?:[-*•]\s+|\d{{1,3}}[.)]\s+)?(?:{Section.RULES.value}: )?")


def with_rules(text: str, lines: Sequence[LedgerLine], max_tokens: int, headings: str) -> tuple[str, int]:
    """The text with the rules that it lacks above it, within `max_tokens`, and the number of rules that did not fit.

    The oldest rules give way first.
    """
    rules = _rules(lines)
    missing = _missing(rules, text)
    block = _block(missing, max_tokens - count_text(text) - SEAM, headings)
    text = f"{block}\n\n{text}" if block else text
    return text, len(_missing(rules, text))


def _missing(rules: Sequence[LedgerLine], text: str) -> list[LedgerLine]:
    """The rules that are no line of a text; within a line, a rule may be quoted or denied."""
    said = {_MARKS.sub("", line).strip() for line in text.splitlines()}
    return [line for line in rules if line.text.strip() not in said]


def _rules(lines: Sequence[LedgerLine]) -> list[LedgerLine]:
    return [line for line in lines if line.item.kind is ItemKind.RULE]


def _block(rules: Sequence[LedgerLine], max_tokens: int, headings: str) -> str:
    """The rules below their heading; empty if there is no room for one."""
    if not rules or max_tokens < HEADED_TOKENS // 2:
        return ""
    written = summary_of_lines(Assembled(list(rules), []), max_tokens, headings)
    return written.text if written.choice.lines else ""
