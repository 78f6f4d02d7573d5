"""Summaries patched by what was said while they were written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldline.engine.ledger.assemble import assemble
from foldline.engine.ledger.provenance import together
from foldline.engine.messages import Message, Text, ToolCall, ToolResult, user
from foldline.engine.summaries import extractive
from foldline.engine.summaries.composed import composed
from foldline.engine.summaries.gate.by_line import read
from foldline.engine.summaries.headings import HEADINGS
from foldline.engine.summaries.meanwhile import used_texts, with_used
from foldline.engine.summaries.prompt import TURN_BEGINS, SummaryDraft, SummaryInput, divided, joined

PORT = "The old relay listens on port 8443."
QUEUE = "The jobs stand in queue_of_mails, and Maria looks after them."
SAID = (
    user(f"Rename the parser to reader in src/parse.py. {PORT}"),
    Message("assistant", (ToolCall("c1", "bash", '{"command": "make test"}'),)),
    Message("tool", (ToolResult("c1", (Text("12 passed, 1 failed: test_old_name"),)),)),
    user(f"{QUEUE} The port is 99."),
)
STORY = "## Decided\n- The parser has its new name.\n## Open\n- One test fails."


def patched(text: str, *said: str, max_tokens: int = 400, headings: str = "foldline") -> SummaryDraft:
    request = SummaryInput((), SAID, max_tokens, headings=headings)
    draft = SummaryDraft(text, degraded=False, summarizer="fast")
    return with_used(draft, request, assemble(request.items), said)


def added(text: str, *said: str, max_tokens: int = 400) -> list[str]:
    """The lines that a text got, in its order."""
    return [line for line in patched(text, *said, max_tokens=max_tokens).text.split("\n") if line not in text]


@pytest.mark.parametrize(
    "said", ["connect to localhost:8443", '{"port": 8443}', "Port `8443`, then.", "ports=[80,8443]", "8,443 it is"]
)
def test_a_line_whose_value_was_used_is_added(said: str) -> None:
    assert any(PORT in line for line in added(STORY, said))


@pytest.mark.parametrize(
    "said", ["", "go on", "port 18443", "port 84431", "99 times", "the relay listens", "queue_of_mail", "make"]
)
def test_words_that_are_no_names_and_parts_of_names_add_nothing(said: str) -> None:
    assert patched(STORY, said) == patched(STORY)
    assert "patched_by_use" not in patched(STORY, said).details


def test_what_the_text_has_is_not_added() -> None:
    assert added(f"{STORY}\n- It listens on 8443.", "8443") == []


def test_a_longer_path_uses_its_end() -> None:
    assert any("src/parse.py" in line for line in added(STORY, "open /repo/src/parse.py"))


def test_a_name_in_several_lines_is_added_once_and_the_most_used_come_first() -> None:
    lines = added(STORY, "8443", "queue_of_mails", "queue_of_mails", max_tokens=45)
    assert QUEUE in "\n".join(lines)
    assert PORT not in "\n".join(lines)


def test_the_number_of_lines_is_in_the_details() -> None:
    assert patched(STORY, "8443 and queue_of_mails").details == {"patched_by_use": 2}


@pytest.mark.parametrize("headings", HEADINGS)
def test_lines_are_read_back_in_their_sections(headings: str) -> None:
    request = SummaryInput((), SAID, 400, headings=headings)
    lines = assemble(request.items)
    draft = SummaryDraft("Some words.", degraded=False, summarizer="fast")
    text = with_used(draft, request, lines, ["8443 queue_of_mails src/parse.py test_old_name"]).text
    sections = {line.text: line.section for _, line in read(text) if line is not None}
    wanted = {line.text: line.section for line in lines if line.text in text}
    assert len(wanted) >= 4
    assert {text: sections[text] for text in wanted} == wanted


def test_lines_stand_below_the_heading_that_is_there_and_before_a_turn() -> None:
    text = f"## Asked\n- Something.\n\n## Said\n- More.\n\n{TURN_BEGINS}\n## Early Progress\n- It began."
    rows = patched(text, "queue_of_mails 8443 src/parse.py").text.split("\n")
    assert [row for row in rows if row.startswith("#")] == [row for row in text.split("\n") if row.startswith("#")]
    assert rows.index("## Said") < rows.index(f"- {PORT}") < rows.index(TURN_BEGINS)


def test_lines_stand_after_a_block_of_code() -> None:
    text = "Notes:\n```\n## Said\nx = 1\n```"
    found = patched(text, "queue_of_mails 8443").text
    assert found.startswith(f"{text}\n")
    assert found.count("## Said") == 2


def test_without_room_nothing_is_added() -> None:
    assert added(STORY, "8443", max_tokens=20) == []


def test_what_was_made_of_the_ledger_still_says_where_its_lines_are_from() -> None:
    request = SummaryInput((), SAID, 50)
    made = extractive.extracted(request)
    assert "8443" not in made.text
    draft = SummaryDraft(made.text, degraded=False, summarizer="fast", provenance=made.provenance)
    found = with_used(draft, replace(request, max_tokens=90), assemble(request.items), ["8443"])
    assert found.provenance is not None
    assert made.provenance is not None
    (line,) = set(found.provenance.lines) - set(made.provenance.lines)
    assert PORT in line.text
    rows = [row.removeprefix("- ") for row in found.text.split("\n")]
    assert [each.text for each in found.provenance.lines] == [row for row in rows if not row.startswith("#")]
    before, after = made.provenance.recallable, found.provenance.recallable
    assert sum(before.values()) - sum(after.values()) == 1


def test_the_room_that_the_beginning_of_a_turn_left_is_used_for_what_came_before_it() -> None:
    relays = [f"The relay number {n} listens on port {8400 + n}, and box_{n}_of_mails is its queue." for n in range(40)]
    request = SummaryInput((), tuple(map(user, relays)), 500, turn_prefix=(user("Rename the parser."),))
    pieces = divided(request)
    parts = [composed(piece, "## Decided\n- All went well.") for piece in pieces]
    text, provenance = joined(pieces, [part.text for part in parts]), together(part.provenance for part in parts)
    draft = SummaryDraft(text, degraded=False, summarizer="fast", provenance=provenance)
    lacked = [relay for relay in relays if relay not in text]
    found = with_used(draft, request, assemble(request.items), ["ports 8401 and 8403"])
    assert set(lacked) - {relay for relay in lacked if relay not in found.text} == {relays[1], relays[3]}
    before, _, turn = found.text.partition(TURN_BEGINS)
    assert before.index(relays[1]) < before.index(relays[3])
    assert turn == text.partition(TURN_BEGINS)[2]
    assert found.provenance is not None
    assert sum(found.provenance.recallable.values()) == sum(provenance.recallable.values()) - 2


def test_a_block_of_a_provider_and_an_empty_text_stay() -> None:
    request = SummaryInput((), SAID, 400)
    lines = assemble(request.items)
    block = SummaryDraft(STORY, degraded=False, summarizer="provider", block=({"type": "compaction"},))
    assert with_used(block, request, lines, ["8443"]) is block
    assert patched(" ", "8443").text == " "


def test_what_tools_answered_is_no_use() -> None:
    call = Message("assistant", (Text("I look."), ToolCall("c1", "bash", '{"command": "nc relay 8443"}')))
    result = Message("user", (ToolResult("c1", (Text("queue_of_mails"),)), Text("Well?")))
    assert used_texts([call, result]) == ['I look.\nbash {"command": "nc relay 8443"} nc relay 8443', "Well?"]
