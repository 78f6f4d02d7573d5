"""What a summary was made of: each line has its item, and what is not in it is counted."""

from __future__ import annotations

from foldline.engine.ledger import provenance
from foldline.engine.ledger.choice.render import summary_of
from foldline.engine.ledger.find import found_in
from foldline.engine.ledger.items import ItemKind
from foldline.engine.ledger.provenance import Provenance, SummaryLine
from foldline.engine.messages import Message, Text, ToolCall, ToolResult, user
from foldline.engine.summaries.extractive import extracted
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.wire import dumps, loads

MESSAGES = (
    user("Never push to main."),
    user("The invoices service listens on port 4111."),
    Message("assistant", (ToolCall("c", "bash", '{"command": "pytest -q"}'),)),
    Message("tool", (ToolResult("c", (Text("FAILED tests/test_a.py::test_b - AssertionError"),), is_error=True),)),
    user("Correction: the invoices service listens on port 4222 now."),
)


def made(max_tokens: int) -> tuple[str, Provenance]:
    text, _, found = summary_of(found_in((), MESSAGES, 10), max_tokens, "foldline")
    return text, found


def test_each_line_has_its_text_kind_and_place_in_the_order_of_the_summary() -> None:
    text, found = made(400)
    assert [f"- {line.text}" for line in found.lines] == [line for line in text.split("\n") if line.startswith("- ")]
    assert SummaryLine("Never push to main.", ItemKind.RULE, 10) in found.lines
    assert {line.kind: line.place for line in found.lines}[ItemKind.FAILURE] == 13
    assert [line.place for line in found.lines if "4222" in line.text] == [14]


def test_what_was_replaced_and_what_found_no_room_is_counted() -> None:
    _, whole = made(400)
    assert sum(whole.replaced.values()) == 1
    assert not sum(whole.recallable.values())
    _, small = made(24)
    assert sum(small.kept.values()) + sum(small.recallable.values()) == len(whole.lines)
    assert sum(small.recallable.values()) > 0
    assert small.replaced == whole.replaced


def test_a_line_that_was_cut_to_fit_has_its_item_too() -> None:
    said = user("Never push to the main branch of the invoices repository before Friday.")
    text, _, found = summary_of(found_in((), [said], 3), 8, "foldline")
    assert text.startswith("Never push")
    assert [(line.text, line.place) for line in found.lines] == [(text, 3)]


def test_a_summary_of_nothing_has_no_lines() -> None:
    assert summary_of((), 40, "foldline").provenance == Provenance()


def test_a_turn_of_its_own_has_its_lines_after_those_before_it() -> None:
    before, turn = (user("Never push to main."),), (user("Always run the linter before you commit."),)
    text, found = extracted(SummaryInput((), before, 2_000, turn_prefix=turn))
    assert [line.text for line in found.lines] == ["Never push to main.", "Always run the linter before you commit."]
    assert text.index(found.lines[0].text) < text.index(found.lines[1].text)


def test_it_is_stored_and_read_back() -> None:
    _, found = made(64)
    assert provenance.from_json(loads(dumps(provenance.to_json(found)))) == found
    assert found.by_kind.keys() <= set(ItemKind)
    assert sum(counts["kept"] for counts in found.by_kind.values()) == len(found.lines)
