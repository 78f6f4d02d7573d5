"""Summaries made of a story and the ledger: nothing is said twice, no rule is lost, facts come first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.messages import Message, Text, ToolCall, ToolResult, user
from foldline.engine.summaries import extractive
from foldline.engine.summaries.composed import composed, story_tokens
from foldline.engine.summaries.headings import HEADINGS
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.tokens.counter import count_text

SAID = (
    user("Rename the parser to reader in src/parse.py. Never touch the vendor folder. The port is 8443."),
    Message("assistant", (ToolCall("c1", "bash", '{"command": "make test"}'),)),
    Message("tool", (ToolResult("c1", (Text("12 passed, 1 failed: test_old_name"),)),)),
    Message("assistant", (Text("One test fails. I will add an alias next."),)),
    user("Good, go on."),
)
RULE = "Never touch the vendor folder."
STORY = "## Rules\n- Keep away from vendored code.\n## Decided\n- The parser is called reader now, in src/parse.py."


def request_of(max_tokens: int, headings: str = "foldline") -> SummaryInput:
    return SummaryInput((), SAID, max_tokens, headings=headings)


@pytest.mark.parametrize("headings", HEADINGS)
def test_a_summary_has_the_story_the_rules_word_for_word_and_the_facts_that_the_story_lacks(headings: str) -> None:
    text = composed(request_of(400, headings), STORY).text
    for said in ("The parser is called reader now, in src/parse.py.", RULE, "8443", "make test"):
        assert text.count(said) == 1, said
    assert "vendored" not in text, "the rule itself stands, and not what the story makes of it"


def test_what_the_story_says_is_not_said_again() -> None:
    text = composed(request_of(400), "## Asked\n- The user wants: Rename the parser to reader in src/parse.py.").text
    assert text.count("src/parse.py") == 1


def test_without_a_story_it_is_the_ledger_alone() -> None:
    assert composed(request_of(400), "").text == extractive.summarize(request_of(400))


def test_fluent_words_give_way_to_facts() -> None:
    words = "\n".join(f"- and so the work went on in its way, step {'by step ' * 9}" for _ in range(20))
    request = request_of(90)
    alone = extractive.summarize(request)
    text = composed(request, f"## Decided\n{words}").text
    assert all(line in text for line in alone.splitlines())


def test_lines_of_a_story_are_in_no_entry() -> None:
    found = composed(request_of(400), STORY)
    assert not any("called reader now" in line.text for line in found.provenance.lines)
    assert any(RULE in line.text for line in found.provenance.lines)


@given(max_tokens=st.integers(20, 600), story=st.text(max_size=400), headings=st.sampled_from(list(HEADINGS)))
def test_it_never_takes_more_than_its_tokens(max_tokens: int, story: str, headings: str) -> None:
    request = request_of(max_tokens, headings)
    assert count_text(composed(request, f"## Asked\n{story}").text) <= max_tokens


def test_a_story_may_take_half_of_a_summary() -> None:
    assert story_tokens(request_of(1_000)) == 500


@pytest.mark.parametrize(
    ("said", "story"),
    [
        ("The tests in tests/test_reader.py do not pass.", "The tests in tests/test_reader.py pass, and all is well."),
        ("The tests in tests/test_reader.py pass.", "The tests in tests/test_reader.py do not pass."),
        ("We decided not to delete config.yaml.", "Decided to delete config.yaml."),
        ("The admin page uses port 8080.", "The metrics page uses port 8080 too."),
        ("Wir löschen config.yaml nicht.", "Wir löschen config.yaml."),
    ],
)
def test_a_line_that_the_story_denies_or_does_not_say_stays(said: str, story: str) -> None:
    request = SummaryInput((), (user(said),), 400)
    assert said in extractive.summarize(request)
    assert said in composed(request, f"## Decided\n- {story}").text


def test_what_the_story_says_counts_as_recallable() -> None:
    found = composed(request_of(400), "## Asked\n- The user wants: Rename the parser to reader in src/parse.py.")
    alone = composed(request_of(400), "")
    total = sum(sum(fates.values()) for fates in found.provenance.by_kind.values())
    assert total == sum(sum(fates.values()) for fates in alone.provenance.by_kind.values())
