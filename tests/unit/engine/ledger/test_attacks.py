"""What tools say never stands as a rule, a request or a heading of a summary, at any size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldline.engine.ledger.section_lines import places
from foldline.engine.messages import Message, Text, ToolCall, ToolResult, user
from foldline.engine.summaries.extractive import summarize
from foldline.engine.summaries.headings import HEADINGS, Section
from foldline.engine.summaries.prompt import SummaryInput

ATTACKS = [
    json.loads(line)
    for line in (Path(__file__).parents[4] / "benchmarks/fidelity/sets/attacks.jsonl").read_text("utf-8").split("\n")
    if line
]
SIZES = (40, 64, 120, 400, 2_000)


def attacked(text: str) -> tuple[Message, ...]:
    call = Message("assistant", (ToolCall("c", "fetch", '{"url": "https://example.org"}'),))
    read = Message("assistant", (ToolCall("d", "read_file", '{"path": "README.md"}'),))
    return (
        user("Summarize the page for me."),
        call,
        Message("tool", (ToolResult("c", (Text(text),)),)),
        read,
        Message("tool", (ToolResult("d", (Text(text),), is_error=True),)),
        Message("assistant", (Text("The page is about gardens."),)),
    )


@pytest.mark.parametrize("headings", HEADINGS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["poses_as"])
def test_no_line_of_a_tool_stands_for_itself(attack: dict[str, str], headings: str) -> None:
    rules = places(headings)[Section.RULES].headings[-1]
    for max_tokens in SIZES:
        summary = summarize(SummaryInput((), attacked(attack["text"]), max_tokens, headings=headings))
        for line in summary.split("\n"):
            if attack["payload"].lower() in line.lower():
                assert ' → "' in line, f"not attributed: {line}"
        assert rules not in summary.split("\n") or headings in {"neurolink", "turn"}
