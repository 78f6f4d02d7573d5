"""The extractive summary under the headings of each system, and what becomes of it where others are in use later."""

from __future__ import annotations

from itertools import permutations

import pytest

from foldline.engine.ledger.section_lines import CONTENTS, Content
from foldline.engine.messages import Message
from foldline.engine.summaries.extractive import summarize
from foldline.engine.summaries.headings import HEADINGS, Section
from foldline.engine.summaries.prompt import SummaryInput
from tests.support.taken_over import taken_over
from tests.unit.engine.summaries.test_extractive import CODING, Session, assistant, coding, user

NEUROLINK = """\
## Primary Request and Intent
- You must not change the public API.
- Only use the standard library.
- Make the parser stream its input.
- asked: Now write the docs in docs/streaming.md, at most 40 lines.
## Key Technical Concepts
- I'll look at the parser first.
- Good.
- Written.
## Files and Code Sections
- changed src/parser.py
- created docs/streaming.md
## Problem Solving
- $ pytest -q tests → "E AssertionError: chunk lost" → "3 passed in 0.1s"
## Pending Tasks
- $ python examples/stream.py
## Task Evolution
- Fixed: the root cause was a buffer that was cleared too early, so chunks got lost.
- Shall I also add an example? → yes please
"""

AGENT_CODE = """\
## Goal
- Make the parser stream its input.
- Now write the docs in docs/streaming.md, at most 40 lines.
## Constraints
- You must not change the public API.
- Only use the standard library.
## Progress
- $ pytest -q tests → "E AssertionError: chunk lost" → "3 passed in 0.1s"
- said: I'll look at the parser first.
- said: Good.
- said: Written.
## Decisions
- Fixed: the root cause was a buffer that was cleared too early, so chunks got lost.
- Shall I also add an example? → yes please
## Next steps
- $ python examples/stream.py
## Files
- changed src/parser.py
- created docs/streaming.md
"""

PI = """\
## Goal
- Make the parser stream its input.
- Now write the docs in docs/streaming.md, at most 40 lines.
## Constraints & Preferences
- You must not change the public API.
- Only use the standard library.
## Progress
### Done
- Fixed: the root cause was a buffer that was cleared too early, so chunks got lost.
- Shall I also add an example? → yes please
### In Progress
- $ python examples/stream.py
## Critical Context
- $ pytest -q tests → "E AssertionError: chunk lost" → "3 passed in 0.1s"
- changed src/parser.py
- created docs/streaming.md
- said: I'll look at the parser first.
- said: Good.
- said: Written.
"""

TURN = """\
## Original Request
- You must not change the public API.
- Only use the standard library.
- Make the parser stream its input.
- asked: Now write the docs in docs/streaming.md, at most 40 lines.
## Early Progress
- Fixed: the root cause was a buffer that was cleared too early, so chunks got lost.
- decided: Shall I also add an example? → yes please
- $ pytest -q tests → "E AssertionError: chunk lost" → "3 passed in 0.1s"
## Context for Suffix
- open: $ python examples/stream.py
- changed src/parser.py
- created docs/streaming.md
- said: I'll look at the parser first.
- said: Good.
- said: Written.
"""

LAYOUTS = {
    "foldline": CODING,
    "neurolink": NEUROLINK,
    "agent-code": AGENT_CODE,
    "codebuddy": CODING,
    "pi": PI,
    "turn": TURN,
}


def summary_of(headings: str, messages: list[Message], *previous: str, max_tokens: int = 2_000) -> str:
    return summarize(SummaryInput(previous, tuple(messages), max_tokens, headings=headings))


@pytest.mark.parametrize("headings", HEADINGS)
def test_the_layout_of_a_coding_session(headings: str) -> None:
    assert f"{summary_of(headings, coding().messages, max_tokens=1_000)}\n" == LAYOUTS[headings]


@pytest.mark.parametrize(("before", "after"), list(permutations(HEADINGS, 2)))
def test_a_summary_says_the_same_when_other_headings_come_into_use(before: str, after: str) -> None:
    earlier = summary_of(before, coding().messages)
    later = summary_of(after, [], earlier)
    assert f"{later}\n" == LAYOUTS[after]
    assert taken_over(later) == taken_over(earlier)


@pytest.mark.parametrize("headings", HEADINGS)
def test_earlier_summaries_of_all_systems_are_merged_into_one(headings: str) -> None:
    earlier = [
        summary_of(name, Session().say(user(f"You must keep the {name} adapter."), assistant("ok")).messages)
        for name in HEADINGS
    ]
    merged = taken_over(summary_of(headings, [], *earlier))
    assert {(Section.RULES, f"You must keep the {name} adapter.") for name in HEADINGS} <= merged


@pytest.mark.parametrize("headings", HEADINGS)
@pytest.mark.parametrize(
    ("written", "section"),
    [
        ("## Primary Request and Intent\n- rule: Answer in French.", Section.RULES),
        ("## Primary Request and Intent\n- The API must stay as it is.", Section.RULES),
        ("## Primary Request and Intent\n- A parser that streams.", Section.ASKED),
        ("## Task Evolution\n- SQLite, for it needs no server.", Section.DECIDED),
        ("## Current Work\n- The second half of the page.", Section.OPEN),
        ("## Next Step\n- Translate the footer.", Section.OPEN),
        ("## Constraints\n- French.", Section.RULES),
        ("## Progress\n- The header is translated.", Section.DECIDED),
        ("## Progress\n- $ make → built", Section.ENDED),
        ("## Progress\n### In Progress\n1. The footer.", Section.OPEN),
        ("## Progress\n### Blocked\n- (a) The images.", Section.OPEN),
        ("## Critical Context\n- Error: no such font.", Section.ENDED),
        ("## Critical Context\n- The customer is in Berne.", Section.DECIDED),
    ],
)
def test_what_a_model_wrote_under_the_headings_of_a_system_is_understood(
    headings: str, written: str, section: Section
) -> None:
    assert {whose for whose, _ in taken_over(summary_of(headings, [], written))} == {section}


@pytest.mark.parametrize("headings", HEADINGS)
def test_files_are_read_back_from_wherever_they_stand(headings: str) -> None:
    session = Session().say(user("go"))
    for name in ("one", "two", "three", "four"):
        session.call("write", "ok", path=f"/home/someone/project/src/{name}.py")
    earlier = summary_of(headings, session.messages)
    again = Session().say(user("on")).call("read", "x", path="/home/someone/project/src/one.py").messages
    later = summary_of(headings, again, earlier)
    assert later.count("one.py") == 1
    assert "created /home/someone/project/src/one.py" in later


def begun() -> tuple[Message, ...]:
    """The beginning of a turn, whose rest is not there."""
    session = Session().say(user("Release version 2. Never push to main."))
    for name in ("CHANGELOG.md", "pyproject.toml", "app/version.py"):
        session.call("edit", "", path=f"/srv/project/{name}")
    session.call("read", "# Releasing", path="RELEASING.md").call("bash", "error: no tag", command="make release")
    return tuple(session.say(assistant("Next I will set the tag.")).call("bash", "", command="git tag v2").messages)


BEGUN = """\
# A turn begins here; its rest follows this summary
## Original Request
- Never push to main.
## Early Progress
- $ make release → "error: no tag"
- $ git tag v2
## Context for Suffix
- open: Release version 2.
- open: Next I will set the tag.
- changed /srv/project/CHANGELOG.md
- changed /srv/project/pyproject.toml
- changed /srv/project/app/version.py
- read RELEASING.md
"""


@pytest.mark.parametrize("headings", HEADINGS)
def test_the_beginning_of_a_turn_is_a_part_of_its_own(headings: str) -> None:
    request = SummaryInput((), tuple(coding().messages), 2_000, headings=headings, turn_prefix=begun())
    assert f"{summarize(request)}\n" == f"{LAYOUTS[headings]}\n{BEGUN}"


def test_where_nothing_was_before_a_turn_its_beginning_is_all() -> None:
    assert f"{summarize(SummaryInput((), (), 1_000, turn_prefix=begun()))}\n" == BEGUN


@pytest.mark.parametrize("headings", HEADINGS)
def test_what_was_said_before_a_turn_and_at_its_beginning_is_found_again(headings: str) -> None:
    request = SummaryInput((LAYOUTS[headings],), (), 2_000, headings=headings, turn_prefix=begun())
    summary = summarize(request)
    assert taken_over(summary) == taken_over(LAYOUTS[headings]) | taken_over(BEGUN)
    assert taken_over(summary_of(headings, [], summary)) == taken_over(summary)


def test_files_before_a_turn_and_in_it_are_below_folders_of_their_own() -> None:
    before = "## Files\n- below /home/someone/site/\n- read index.html"
    turn = Session().say(user("go on")).call("read", "x", path="notes.md").messages
    summary = summarize(SummaryInput((before,), (), 1_000, turn_prefix=tuple(turn)))
    assert (Section.FILES, "read notes.md") in taken_over(summary)
    assert (Section.FILES, "read /home/someone/site/index.html") in taken_over(summary)


EVERY_CONTENT = sorted({content for content in CONTENTS.values() if content.others}, key=repr)


@pytest.mark.parametrize("content", EVERY_CONTENT, ids=[content.usual.value for content in EVERY_CONTENT])
@pytest.mark.parametrize(
    "said",
    [
        "Never touch vendor/.",
        "Is it done?",
        "read the docs",
        "changed a.py → b.py",
        "$ make → error: none",
        "rule: be brief",
        "said: rule: be brief",
        "file: ",
        "plain words",
    ],
)
def test_a_line_among_others_is_read_back_as_what_it_was(content: Content, said: str) -> None:
    for section in {content.usual, *content.others}:
        assert content.read(content.written(section, said)) == (section, said)


def test_a_line_has_a_mark_only_where_it_would_pass_for_another() -> None:
    content = Content(Section.ASKED, frozenset({Section.RULES}))
    assert content.written(Section.RULES, "Never touch vendor/.") == "Never touch vendor/."
    assert content.written(Section.RULES, "French, please.") == "rule: French, please."
    assert content.written(Section.ASKED, "Never mind the tests, fix it.") == "asked: Never mind the tests, fix it."
    assert Content(Section.RULES).written(Section.RULES, "rule: be brief") == "rule: be brief"
