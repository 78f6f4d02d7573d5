"""The promises of every format for every transcript."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foldline.engine.formats import FORMATS, anthropic_writer, openai
from foldline.engine.formats.ids import fitting
from foldline.engine.formats.rules import check
from foldline.engine.messages import Message, ToolCall, ToolResult, without_bound
from tests.support.gemini_transcripts import gemini_wire_messages, messy_gemini_messages
from tests.support.responses_items import (
    HOSTED,
    IDENTIFIED,
    missing_reasoning,
    responses_wire_messages,
    with_long_ids,
)
from tests.support.transcripts import (
    Wire,
    anthropic_wire_messages,
    messy_wire_messages,
    strange_batches,
    texts,
    wire_messages,
)
from tools.format_cases import CASES

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SOURCES = sorted(path for path in CORPUS.glob("*.jsonl") if not path.name.endswith(".raw.jsonl"))

PATTERNS = (openai.ID_PATTERN, openai.NAME_PATTERN, anthropic_writer.ID_PATTERN, anthropic_writer.NAME_PATTERN)

formats = st.sampled_from(sorted(FORMATS))
transcripts = st.one_of(
    st.tuples(st.just("openai"), wire_messages()),
    st.tuples(st.just("openai"), strange_batches()),
    st.tuples(st.just("anthropic"), anthropic_wire_messages()),
    st.tuples(st.just("responses"), responses_wire_messages() | responses_wire_messages().map(with_long_ids)),
    st.tuples(st.just("gemini"), gemini_wire_messages()),
)
any_transcripts = st.one_of(
    transcripts,
    st.tuples(st.just("openai"), messy_wire_messages()),
    st.tuples(st.just("gemini"), messy_gemini_messages()),
)

# A text and a response to nothing stand between a batch of calls and their responses.
TEXT_BEFORE_RESULTS: list[Wire] = [
    {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {}}}]},
    {"role": "user", "parts": [{"text": "first"}, {"functionResponse": {"name": "grep", "id": "nobody's"}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "read_file"}}]},
]


def _samples(source: str) -> st.SearchStrategy[tuple[str, list[str]]]:
    """A format, and some of the parts that there are samples of."""
    return st.tuples(st.just(source), st.lists(st.sampled_from(sorted(CASES[source])), min_size=1, max_size=6))


def _convert(messages: list[Any], source: str, target: str, system: str | None = None) -> list[dict[str, Any]]:
    return FORMATS[target].render(FORMATS[source].parse(messages), system).messages


@given(any_transcripts, formats, st.data())
def test_a_copied_writer_goes_on_as_one_that_wrote_everything(
    transcript: tuple[str, list[Any]], target: str, data: st.DataObject
) -> None:
    source, wire = transcript
    messages = FORMATS[source].parse(wire)
    writer, taken = FORMATS[target].writer("Be brief.", None), []
    places = data.draw(st.sets(st.integers(0, len(messages)), max_size=4))
    for number, message in enumerate(messages):
        if number in places:
            before = writer
            taken += writer.take()
            writer = before.copy()
            # What another copy writes is no concern of this one.
            for other in messages[number:]:
                (rest := before.copy()).add(other)
                rest.finish()
        writer.add(message)
    writer.finish()
    whole = FORMATS[target].render(messages, "Be brief.")
    assert ([*taken, *writer.messages], writer.lossy) == (whole.messages, whole.lossy)


@given(wire_messages())
def test_an_openai_transcript_comes_back_as_it_was(messages: list[Any]) -> None:
    assert _convert(messages, "openai", "openai") == messages


@given(anthropic_wire_messages())
def test_an_anthropic_transcript_comes_back_as_it_was(messages: list[Any]) -> None:
    assert _convert(messages, "anthropic", "anthropic") == messages


@given(responses_wire_messages())
def test_a_responses_transcript_comes_back_as_it_was(items: list[Any]) -> None:
    rendered = FORMATS["responses"].render(FORMATS["responses"].parse(items), None)
    assert (rendered.messages, rendered.lossy) == (items, 0)


@given(gemini_wire_messages())
def test_a_gemini_transcript_comes_back_as_it_was(messages: list[Any]) -> None:
    rendered = FORMATS["gemini"].render(FORMATS["gemini"].parse(messages), None)
    assert (rendered.messages, rendered.lossy) == (messages, 0)


@pytest.mark.thorough
@pytest.mark.timeout(1_800)
@settings(max_examples=10_000)
@given(gemini_wire_messages())
def test_thousands_of_gemini_transcripts_obey_the_rules_of_every_format(messages: list[Any]) -> None:
    for target in FORMATS:
        once = _convert(messages, "gemini", target)
        assert check(target, once, None) == []
        assert _convert(once, target, target) == once
    assert _convert(messages, "gemini", "gemini") == messages


@pytest.mark.thorough
@pytest.mark.timeout(1_800)
@settings(max_examples=10_000)
@given(responses_wire_messages())
def test_thousands_of_responses_transcripts_obey_the_rules_of_every_format(items: list[Any]) -> None:
    for target in FORMATS:
        once = _convert(items, "responses", target)
        assert check(target, once, None) == []
        assert _convert(once, target, target) == once
    assert _convert(items, "responses", "responses") == items


@given(any_transcripts)
def test_a_native_transcript_comes_back_as_it_was(transcript: tuple[str, list[Any]]) -> None:
    native = _convert(transcript[1], transcript[0], "native")
    assert _convert(native, "native", "native") == native


@given(any_transcripts, formats)
@example(("gemini", TEXT_BEFORE_RESULTS), "gemini")
def test_rendering_what_was_rendered_changes_nothing(transcript: tuple[str, list[Any]], target: str) -> None:
    once = _convert(transcript[1], transcript[0], target)
    assert _convert(once, target, target) == once


@given(any_transcripts, formats)
def test_rendering_leaves_its_input_alone_and_is_deterministic(transcript: tuple[str, list[Any]], target: str) -> None:
    before = json.dumps(transcript[1])
    once = json.dumps(_convert(transcript[1], transcript[0], target))
    assert json.dumps(_convert(transcript[1], transcript[0], target)) == once
    assert json.dumps(transcript[1]) == before


@given(transcripts, formats, st.none() | st.just("Be brief."))
def test_complete_transcripts_obey_the_rules_of_every_format(
    transcript: tuple[str, list[Any]], target: str, system: str | None
) -> None:
    assert check(target, _convert(transcript[1], transcript[0], target, system), system) == []


@given(transcripts, formats, formats)
def test_two_steps_obey_the_rules_as_well(transcript: tuple[str, list[Any]], middle: str, target: str) -> None:
    messages = _convert(_convert(transcript[1], transcript[0], middle), middle, target)
    assert check(target, messages, None) == []


@given(transcripts, formats, st.data())
def test_what_is_rendered_first_does_not_depend_on_what_comes_later(
    transcript: tuple[str, list[Any]], target: str, data: st.DataObject
) -> None:
    messages = FORMATS[transcript[0]].parse(transcript[1])
    cuts = [index for index, message in enumerate(messages) if message.role == "assistant"]
    cut = data.draw(st.sampled_from([*cuts, len(messages)]))
    head = FORMATS[target].render(messages[:cut], None).messages
    assert FORMATS[target].render(messages, None).messages[: len(head)] == head


@given(transcripts, formats)
def test_messages_without_their_sources_obey_the_rules_too(transcript: tuple[str, list[Any]], target: str) -> None:
    messages = [_edited(message) for message in FORMATS[transcript[0]].parse(transcript[1])]
    assert check(target, FORMATS[target].render(messages, None).messages, None) == []


@given(anthropic_wire_messages())
def test_an_edited_anthropic_message_keeps_its_untouched_parts(messages: list[Any]) -> None:
    edited = [_edited(message) for message in FORMATS["anthropic"].parse(messages)]
    assert FORMATS["anthropic"].render(edited, None).messages == messages


@given(gemini_wire_messages(signed=True))
def test_an_edited_gemini_message_keeps_its_untouched_parts_and_their_signatures(messages: list[Any]) -> None:
    edited = [_edited(message) for message in FORMATS["gemini"].parse(messages)]
    rendered = FORMATS["gemini"].render(edited, None).messages
    assert [content["parts"] for content in rendered] == [content["parts"] for content in messages]


@given(transcripts)
def test_without_bound_reasoning_no_gemini_signature_is_left(transcript: tuple[str, list[Any]]) -> None:
    """What is left is valid, and each step begins with a signature that Google documents as a stand-in."""
    messages = [without_bound(message) for message in FORMATS[transcript[0]].parse(transcript[1])]
    rendered = FORMATS["gemini"].render(messages, None).messages
    assert check("gemini", rendered, None) == []
    for content in rendered:
        calls = [part for part in content["parts"] if "functionCall" in part or "function_call" in part]
        signed = [part.get("thoughtSignature", part.get("thought_signature")) for part in calls]
        assert signed == ["skip_thought_signature_validator", *[None] * (len(calls) - 1)][: len(calls)]
        assert all("thoughtSignature" not in part for part in content["parts"] if part not in calls)


@given(transcripts, formats)
def test_no_call_and_no_result_vanishes(transcript: tuple[str, list[Any]], target: str) -> None:
    messages = FORMATS[transcript[0]].parse(transcript[1])
    again = FORMATS[target].parse(FORMATS[target].render(messages, None).messages)
    for kind in (ToolCall, ToolResult):
        first, second = (
            sum(isinstance(part, kind) for m in listed for part in m.parts) for listed in (messages, again)
        )
        assert first == second


@given(st.sampled_from(sorted(CASES)).flatmap(_samples), formats)
def test_lossy_is_exact_for_any_mixture_of_parts(mixture: tuple[str, list[str]], target: str) -> None:
    source, parts = mixture
    samples = [CASES[source][part] for part in parts]
    together = FORMATS[target].render(FORMATS[source].parse([wire for sample in samples for wire in sample]), None)
    alone = [FORMATS[target].render(FORMATS[source].parse(sample), None) for sample in samples]
    assert together.lossy == sum(rendered.lossy for rendered in alone)
    assert check(target, together.messages, None) == []


@given(st.lists(texts | st.text(min_size=60, max_size=70), unique=True), st.sampled_from(PATTERNS))
def test_ids_and_names_that_differ_stay_different_and_fit(given_texts: list[str], pattern: re.Pattern[str]) -> None:
    fitted = [fitting(text, pattern) for text in given_texts]
    assert all(map(pattern.fullmatch, fitted))
    assert len(set(fitted)) == len(fitted)
    assert [fitting(text, pattern) for text in fitted] == fitted


@given(responses_wire_messages())
def test_an_edited_responses_message_keeps_all_but_ids(items: list[Any]) -> None:
    edited = [_edited(message) for message in FORMATS["responses"].parse(items)]
    rendered = FORMATS["responses"].render(edited, None)
    assert check("responses", rendered.messages, None) == []
    assert missing_reasoning(rendered.messages) == []
    # What the API takes only with its id cannot stay without it, nor reasoning that led to an empty message.
    if not any(item.get("type") in IDENTIFIED or item.get("content") == [] for item in items):
        assert rendered.lossy == 0
        assert _contents(rendered.messages) == _contents(items)


def _contents(items: list[Wire]) -> list[Wire]:
    """The parts of messages and the other items, all without ids."""
    contents: list[Wire] = []
    for item in items:
        kept = {key: value for key, value in item.items() if key not in {"id", "type"}}
        content = item.get("content")
        if "role" in item and item["role"] != "assistant":
            parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
            contents += [{"role": item["role"], "content": part} for part in parts or ()]
        elif isinstance(content, list):
            contents += [{**kept, "content": part} for part in content]
        else:
            contents.append({**kept, "kind": item.get("type")})
    return contents


@given(responses_wire_messages(), st.data())
def test_items_lose_what_names_reasoning_that_is_left_out(items: list[Any], data: st.DataObject) -> None:
    messages = FORMATS["responses"].parse(items)
    choices = data.draw(st.lists(st.booleans(), min_size=len(messages), max_size=len(messages)))
    shown = [without_bound(message) if choice else message for message, choice in zip(messages, choices, strict=True)]
    rendered = FORMATS["responses"].render([message for message in shown if message.parts], None).messages
    assert check("responses", rendered, None) == []
    assert missing_reasoning(rendered) == []
    assert _convert(rendered, "responses", "responses") == rendered


@given(responses_wire_messages(), st.sampled_from(("openai", "anthropic")))
def test_all_of_a_responses_transcript_that_others_cannot_carry_is_counted(items: list[Any], target: str) -> None:
    rendered = FORMATS[target].render(FORMATS["responses"].parse(items), None)
    lost = {"reasoning", "compaction", "configuration_update", *(item["type"] for item in HOSTED)}
    # A call whose arguments are no JSON object is one more for Anthropic, and so is blank text.
    least = sum(item.get("type") in lost for item in items) + sum(map(_files, items))
    assert rendered.lossy >= least
    if target == "openai":
        assert rendered.lossy == least
    marks = sum(item.get("type") in lost - {"reasoning"} for item in items) + sum(map(_files, items))
    assert json.dumps(rendered.messages).count(" left out]") >= marks


def _files(item: Wire) -> int:
    parts = item.get("content", item.get("output"))
    return sum("file_id" in part for part in parts if isinstance(part, dict)) if isinstance(parts, list) else 0


def _edited(message: Message) -> Message:
    return Message(message.role, message.parts, message.format, None, message.joined)


@pytest.mark.skipif(not SOURCES, reason="needs the shared corpus")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("target", sorted(FORMATS))
def test_real_transcripts_make_the_round_trip(path: Path, target: str) -> None:
    for line in path.read_text("utf-8").splitlines():
        messages = json.loads(line)["messages"]
        once = _convert(messages, "openai", target)
        assert _convert(messages, "openai", "openai") == messages
        assert _convert(once, target, target) == once
        # The view handles unanswered calls and empty messages; nothing else may be wrong.
        assert [found for found in check(target, once, None) if not _is_for_the_view(found)] == []


def _is_for_the_view(violation: str) -> bool:
    return any(
        sign in violation
        for sign in (
            "no result",
            "no open call",
            "not answered once",
            ".content: missing",
            "answers no",
            "responses to",
        )
    )
