"""A patched summary: within its limit, with all it had, only lines of the ledger more, and the same if done again."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.ledger.assemble import assemble
from foldline.engine.messages import Message, Text
from foldline.engine.summaries.composed import composed
from foldline.engine.summaries.headings import HEADINGS
from foldline.engine.summaries.insertion import BULLET, Insertion
from foldline.engine.summaries.meanwhile import PATCHED_BY_USE, with_used
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.engine.tokens.counter import count_text

NAMES = [
    "src/parse.py",
    "8443",
    "queue_of_mails",
    "v2.10.3",
    "ABC-77",
    "2030-01-05",
    "userName",
    "`make lint`",
    "/etc/x",
]
WORDS = ["the", "relay", "listens", "never", "please", "decided", "failed", "on", "use", "TODO:", "12", "is", "你好"]
SENTENCES = st.lists(st.sampled_from(NAMES + WORDS), min_size=2, max_size=9).map(lambda words: " ".join(words) + ".")
TEXTS = st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join)
MESSAGES = st.builds(lambda role, text: Message(role, (Text(text),)), st.sampled_from(["user", "assistant"]), TEXTS)
ROWS = st.one_of(
    SENTENCES, SENTENCES.map("- {}".format), st.sampled_from(["", "## Said", "## Files", "### Done", "```"])
)
HEADED = {line for headings in HEADINGS.values() for heading in headings for line in heading.lines}


@given(
    said=st.lists(MESSAGES, min_size=1, max_size=12),
    story=st.lists(ROWS, min_size=1, max_size=8).map("\n".join),
    used=st.lists(TEXTS, min_size=1, max_size=4),
    max_tokens=st.integers(20, 300),
    headings=st.sampled_from(sorted(HEADINGS)),
    is_composed=st.booleans(),
)
def test_a_patch_only_adds_lines_of_the_ledger_within_the_limit_and_once(
    *, said: list[Message], story: str, used: list[str], max_tokens: int, headings: str, is_composed: bool
) -> None:
    request = SummaryInput((), tuple(said), max_tokens, headings=headings)
    lines = assemble(request.items)
    written = composed(request, story) if is_composed else None
    text, provenance = (written.text, written.provenance) if written else (story, None)
    draft = SummaryDraft(text, degraded=False, summarizer="fast", provenance=provenance)
    found = with_used(draft, request, lines, used)

    assert found.text == text or count_text(found.text) <= max_tokens
    before, after = Counter(text.split("\n")), Counter(found.text.split("\n"))
    assert before <= after
    insertion = Insertion(max_tokens, headings)
    more = Counter({row: count for row, count in (after - before).items() if row not in HEADED})
    assert more <= Counter(BULLET + insertion.written(line) for line in lines)
    assert sum(more.values()) == found.details.get(PATCHED_BY_USE, 0)
    rows = iter(found.text.split("\n"))
    assert all(row in rows for row in text.split("\n")), "in their order"
    if found.provenance is not None:
        assert all(BULLET + line.text in after for line in found.provenance.lines if BULLET in found.text)

    assert with_used(found, request, lines, used) == found
