"""Good stories, written by templates from what a conversation says. The set is frozen: it judges the gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Final

from foldline.engine.ledger.assemble import LedgerLine, assemble
from foldline.engine.ledger.items import ItemKind
from foldline.engine.summaries.headings import HEADINGS, Section
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.tokens.counter import count_text

# How a writer reports a line, by its section.
_WAYS: Final[Mapping[Section, Sequence[str]]] = MappingProxyType(
    {
        Section.RULES: ("{}",),
        Section.ASKED: ("The user asked: {}", "{}", "Request: {}", "What the user wants is this: {}"),
        Section.DECIDED: ("It was decided: {}", "{}", "Found out on the way: {}", "The work so far: {}"),
        Section.OPEN: ("Next: {}", "{}", "Still to do: {}", "Not finished yet: {}"),
        Section.ENDED: ("`{}`", "{}", "Ran {}", "What happened: {}"),
        Section.FILES: ("{}", "The file {}"),
        Section.SAID: ("{}", "Also mentioned: {}", "Worth knowing: {}"),
    }
)
_OPENINGS: Final = (
    "",
    "The agent works on what the user asked for, and most of it is under way.",
    "Work began with the first request below and went on step by step.",
    "This part of the conversation is about the requests below.",
)
LINE_CHARS: Final = 300
SHARE: Final = 0.8


def good_story(request: SummaryInput, random: Random) -> str:
    """A story of this conversation under the request's headings, within its `max_tokens`."""
    lines = [line for line in assemble(request.items) if len(line.text) <= LINE_CHARS]
    share = random.uniform(0.2, 1.0)
    chosen = [line for line in lines if line.item.kind is ItemKind.RULE or random.random() < share]
    text = _written(request, chosen, random)
    while chosen and count_text(text) > request.max_tokens * SHARE:
        chosen = random.sample(chosen, len(chosen) * 2 // 3)
        text = _written(request, sorted(chosen, key=lambda line: line.order), random)
    return text


def _written(request: SummaryInput, chosen: Sequence[LedgerLine], random: Random) -> str:
    return "\n".join(_under(request, chosen, random))


def _under(request: SummaryInput, chosen: Sequence[LedgerLine], random: Random) -> Iterator[str]:
    opening = random.choice(_OPENINGS)
    bullet = random.choice(("- ", "* ", "- "))
    for heading in HEADINGS[request.headings]:
        below = [line for line in chosen if line.section in heading.takes]
        if below:
            yield from (line for line in heading.lines)
            if opening and heading.usual is not Section.RULES:
                yield opening
                opening = ""
            for line in below:
                is_rule = line.section is Section.RULES
                mark = "rule: " if is_rule and heading.usual is not Section.RULES else ""
                way = "{}" if is_rule else random.choice(_WAYS[line.section])
                yield f"{bullet}{mark}{way.format(line.text)}"
