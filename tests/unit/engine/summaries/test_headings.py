from collections import Counter

import pytest

from foldline.engine.library import compact
from foldline.engine.messages import Message, Text
from foldline.engine.policies.presets import PRESETS
from foldline.engine.summaries.headings import HEADINGS, Section
from foldline.engine.summaries.prompt import SMALLEST_INPUT_TOKENS, SummaryInput, prompt
from foldline.engine.tokens.counter import count_text
from tests.unit.engine.test_library import openai

EVERY_SYSTEM = pytest.mark.parametrize("name", HEADINGS)


@EVERY_SYSTEM
def test_every_section_has_one_place(name: str) -> None:
    taken = Counter(section for heading in HEADINGS[name] for section in heading.takes)
    assert taken == dict.fromkeys(Section, 1)


def test_a_name_that_systems_share_means_the_same_in_both() -> None:
    meant = {(heading.name.casefold(), heading.usual) for headings in HEADINGS.values() for heading in headings}
    assert [name for name, times in Counter(name for name, _ in meant).items() if times > 1] == []


@EVERY_SYSTEM
def test_a_part_stands_below_its_heading(name: str) -> None:
    above: str | None = None
    for heading in HEADINGS[name]:
        above = heading.within or heading.name
        assert heading.lines == ((f"## {above}", f"### {heading.name}") if heading.within else (f"## {above}",))
        assert heading.within in {None, *(other.name for other in HEADINGS[name] if not other.within)}


@EVERY_SYSTEM
def test_the_prompt_lists_the_headings_in_their_order_each_with_what_it_is_for(name: str) -> None:
    system, _ = prompt(SummaryInput((), (Message("user", (Text("hello"),)),), 400, headings=name), 8_000)
    listed = [line for line in system["content"].split("\n") if line.startswith("#")]
    assert listed == [f"{heading.line}: {heading.guide}" for heading in HEADINGS[name]]


@EVERY_SYSTEM
def test_the_prompt_stays_within_its_tokens_under_any_headings(name: str) -> None:
    said = (Message("user", (Text("word " * 20_000),)),)
    sent = prompt(SummaryInput(("old " * 5_000,), said, 400, "be brief", headings=name), SMALLEST_INPUT_TOKENS)
    assert sum(count_text(message["content"]) for message in sent) <= SMALLEST_INPUT_TOKENS
    assert "word word" in sent[1]["content"]


@EVERY_SYSTEM
def test_a_summary_made_in_place_has_the_headings_of_the_policy(name: str) -> None:
    compacted = compact(openai(), context_window="4k", policy={"headings": name}, summarize=True)
    summary = compacted.messages[1]["content"]
    listed = [line for line in summary.split("\n") if line.startswith("#")]
    every = dict.fromkeys(line for heading in HEADINGS[name] for line in heading.lines)
    assert len(listed) > 1
    assert [line for line in every if line in listed] == listed


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_has_the_headings_of_its_system(preset: str) -> None:
    assert PRESETS[preset].headings == preset.partition("@")[0]


def test_names_are_those_of_the_systems() -> None:
    assert [heading.name for heading in HEADINGS["pi"] if heading.within == "Progress"] == [
        "Done",
        "In Progress",
        "Blocked",
    ]
    assert [heading.name for heading in HEADINGS["turn"]] == [
        "Original Request",
        "Early Progress",
        "Context for Suffix",
    ]
    assert HEADINGS["codebuddy"] is HEADINGS["foldline"]
