"""The gate: judges a story by its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final, NamedTuple

from foldline.engine.ledger.reading.lines import clean
from foldline.engine.summaries.gate import by_line, whole
from foldline.engine.summaries.gate.source import Story, StorySource
from foldline.engine.summaries.gate.whole import Case, says_little
from foldline.engine.summaries.prompt import SummaryInput

# The name of the findings in a summary's `details`.
GATE: Final = "gate"
_FENCED: Final = re.compile(r"\A\s*```(?:markdown|md|text|txt)?[ \t]*\n(.*)\n```\s*\Z", re.DOTALL)


class GateOutcome(StrEnum):
    """What was done about a finding; the values are stored.

    The lines of it were left out, another story was asked for, or none was published.
    """

    PATCHED = "patched"
    ASKED_AGAIN = "asked again"
    REPLACED = "replaced"


class Finding(NamedTuple):
    """What a check found: its name, the reason for a reader, which quotes no story, and what was done."""

    check: str
    reason: str
    outcome: GateOutcome


class Judged(NamedTuple):
    """A story as it may be published, None if it may not, and what was found."""

    text: str | None
    findings: tuple[Finding, ...] = ()

    @property
    def details(self) -> dict[str, Any]:
        """What was found, as `details` of the summary."""
        return details(self.findings)

    @property
    def reason(self) -> str:
        """Why it may not be published; empty if it may."""
        return "; ".join(finding.reason for finding in self.findings if finding.outcome is not GateOutcome.PATCHED)


def details(findings: Iterable[Finding]) -> dict[str, Any]:
    """Findings as the `details` of a summary."""
    found = [finding._asdict() for finding in findings]
    return {GATE: found} if found else {}


def judge(story: Story, request: SummaryInput, *, by_model: bool = True) -> Judged:
    """The story as it may be published for `request`.

    If it is not `by_model`, its author may know more than the conversation, and chooses what it is about: then it is
    judged as a whole, and has no headings to keep to.
    """
    fenced = _FENCED.match(story.text)
    case = Case(replace(story, text=fenced[1] if fenced else story.text), request, StorySource(request))
    for name, check in (*whole.CHECKS, *(whole.OF_MODELS if by_model else ())):
        if reason := check(case):
            return Judged(None, (Finding(name, reason, GateOutcome.REPLACED),))
    text = clean(case.text).strip()
    if not by_model:
        return Judged(text)
    text, found = _patched(text, case.source)
    findings = tuple(
        Finding(name, f"{found[name]} lines {reason}", GateOutcome.PATCHED)
        for name, reason, _ in by_line.CHECKS
        if found[name]
    )
    if reason := says_little(text, case.source):
        return Judged(None, (*findings, Finding("substance", reason, GateOutcome.REPLACED)))
    return Judged(text, findings)


def _patched(text: str, source: StorySource) -> tuple[str, Counter[str]]:
    """The text without the lines in which a check found something, and how many those are, by check."""
    found: Counter[str] = Counter()

    def kept() -> Iterator[str]:
        for written, line in by_line.read(text):
            name = (
                None if line is None else next((name for name, _, finds in by_line.CHECKS if finds(line, source)), None)
            )
            if name is None:
                yield written
            else:
                found[name] += 1

    return "\n".join(kept()), found
