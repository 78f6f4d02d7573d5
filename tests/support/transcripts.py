"""Hypothesis strategies for transcripts: well-formed and messy ones, as OpenAI or Anthropic wire messages."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from hypothesis import strategies as st

Wire: TypeAlias = dict[str, Any]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TOOLS = ("read_file", "edit_file", "grep", "bash", "lookup")
PATHS = ("src/app.py", "src/日本.py", "README.md", "a b/c.txt")

# Surrogates, NUL, combining marks and emoji sequences are what real clients send by accident.
ODD_TEXTS = ("\x00", "\ud800", "a\udfffb", "👩‍👩‍👧", "e\u0301", "你好世界", "   ", "\n", "<tool_result>", "[error]")

texts = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.sampled_from(ODD_TEXTS),
    st.builds(lambda word, times: f"{word} " * times, st.sampled_from(("alpha", "слово", "漢字")), st.integers(1, 60)),
)
visible_texts = texts.map(lambda text: text if text.strip() else f"said:{text}")
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(texts, values, max_size=3),
    max_leaves=6,
)
inputs = st.one_of(
    st.builds(lambda path: {"path": path}, st.sampled_from(PATHS)), st.dictionaries(texts, json_values, max_size=3)
)
broken_arguments = st.sampled_from(
    ("", "{", "[1, 2]", '"text"', "null", '{"a": 1,}', "{'a': 1}", '{"n": NaN}', "\ud800")
)


@st.composite
def arguments(draw: st.DrawFn) -> str:
    """Arguments as a model writes them: a JSON object with any spacing."""
    separators = draw(st.sampled_from(((",", ":"), (", ", ": "), (" , ", " : "))))
    return json.dumps(draw(inputs), ensure_ascii=draw(st.booleans()), separators=separators)


# OpenAI


def _text_part(text: str) -> Wire:
    return {"type": "text", "text": text}


def _image_part(detail: str) -> Wire:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": detail}}


user_contents: st.SearchStrategy[Any] = st.one_of(
    texts,
    visible_texts,
    st.lists(visible_texts.map(_text_part) | st.just(_image_part("low")), min_size=1, max_size=3),
)


def _user(content: Any) -> Wire:
    return {"role": "user", "content": content}


@st.composite
def _batch(draw: st.DrawFn, serial: int) -> list[Wire]:
    """An assistant message with one to four calls, and their results in any order."""
    calls = [
        {
            "id": f"call_{serial}_{index}",
            "type": "function",
            "function": {"name": draw(st.sampled_from(TOOLS)), "arguments": draw(arguments())},
        }
        for index in range(draw(st.integers(1, 4)))
    ]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": draw(texts)} for call in draw(st.permutations(calls))
    ]
    return [{"role": "assistant", "content": draw(st.none() | texts), "tool_calls": calls}, *results]


@st.composite
def _turn(draw: st.DrawFn, serial: int) -> list[Wire]:
    turn = [_user(draw(user_contents))]
    for index in range(draw(st.integers(0, 3))):
        turn += draw(_batch(serial * 10 + index))
    if draw(st.booleans()):
        turn.append({"role": "assistant", "content": draw(visible_texts)})
    return turn


@st.composite
def wire_messages(draw: st.DrawFn, *, min_turns: int = 1, max_turns: int = 4) -> list[Wire]:
    """A well-formed OpenAI transcript: parallel calls, odd Unicode, empty content, extra keys; no system message.

    Every call has its result right after it; call ids are unique; arguments are JSON objects.
    """
    messages: list[Wire] = []
    for serial in range(draw(st.integers(min_turns, max_turns))):
        messages += draw(_turn(serial))
    for message in messages:
        if draw(st.integers(0, 9)) == 0:
            message["x_trace"] = draw(json_values)
    return messages


strange_ids = st.sampled_from(("", " ", "a.b", "a_b", "ü", "x" * 100, "toolu|1", "call_0_0", "call_0_0\n", "\ud800"))


@st.composite
def _messy_result(draw: st.DrawFn) -> Wire:
    parts = st.sampled_from(
        (_text_part(""), _text_part("late"), _image_part("high"), {"type": "audio_chart", "payload": [1, 2]})
    )
    content = draw(st.none() | texts | st.lists(parts, max_size=3))
    return {"role": "tool", "tool_call_id": draw(strange_ids), "content": content}


@st.composite
def _messy_assistant(draw: st.DrawFn) -> Wire:
    ids = draw(st.lists(strange_ids, max_size=3, unique=True))
    texts_of_arguments = broken_arguments | arguments()
    calls: list[Wire] = [
        {"id": call_id, "type": "function", "function": {"name": "bash", "arguments": draw(texts_of_arguments)}}
        for call_id in ids
    ]
    message: Wire = {"role": "assistant", "content": draw(st.none() | texts)}
    has_empty_list = draw(st.booleans())
    if calls or has_empty_list:
        message["tool_calls"] = calls
    if draw(st.booleans()):
        message["reasoning_content"] = draw(texts)
    return message


odd_messages = st.one_of(
    _messy_result(),
    _messy_assistant(),
    st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(("system", "developer")), texts),
    st.builds(_user, st.none() | st.just([]) | st.lists(st.just({"type": "mystery", "x": 1}), max_size=2)),
)


@st.composite
def messy_wire_messages(draw: st.DrawFn) -> list[Wire]:
    """A transcript as real clients may send it; every message is acceptable by itself.

    Orphan, late and repeated results, calls never answered, ids used again or of no known pattern, broken arguments,
    empty messages, unknown parts, system messages anywhere.
    """
    messages = draw(wire_messages(min_turns=0, max_turns=3))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(messages)))
        change = draw(st.sampled_from(("insert", "repeat", "drop")))
        if change == "insert" or not messages:
            messages.insert(place, draw(odd_messages))
        elif change == "repeat":
            messages.insert(place, dict(draw(st.sampled_from(messages))))
        else:
            messages.pop(min(place, len(messages) - 1))
    return messages


@st.composite
def strange_batches(draw: st.DrawFn) -> list[Wire]:
    """Complete batches of OpenAI messages with strange ids, arguments and contents; every call has its result."""
    messages: list[Wire] = draw(st.lists(odd_messages.filter(lambda m: m["role"] in {"system", "user"}), max_size=2))
    for _ in range(draw(st.integers(1, 4))):
        assistant = draw(_messy_assistant())
        if not assistant["content"] and not assistant.get("tool_calls"):
            assistant["content"] = "done"
        messages.append(assistant)
        calls = assistant.get("tool_calls", [])
        messages += [{**draw(_messy_result()), "tool_call_id": call["id"]} for call in calls]
        if draw(st.booleans()):
            messages.append(_user(draw(user_contents)))
    return messages


# Anthropic

_image_block: Wire = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
_cached: Wire = {"cache_control": {"type": "ephemeral"}}
_document: Wire = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}}

text_blocks = st.builds(
    lambda text, extra: {**_text_part(text), **extra}, visible_texts, st.sampled_from(({}, _cached))
)
content_blocks = text_blocks | st.sampled_from((_image_block, _document))


@st.composite
def _anthropic_batch(draw: st.DrawFn, serial: int) -> list[Wire]:
    """An assistant message with thinking, text and calls, and the user message with their results."""
    blocks: list[Wire] = []
    if draw(st.booleans()):
        blocks.append({"type": "thinking", "thinking": draw(texts), "signature": f"sig-{serial}"})
    blocks += draw(st.lists(text_blocks, max_size=1))
    results: list[Wire] = []
    for index in range(draw(st.integers(1, 3))):
        call_id = f"toolu_{serial}_{index}"
        blocks.append({"type": "tool_use", "id": call_id, "name": draw(st.sampled_from(TOOLS)), "input": draw(inputs)})
        result: Wire = {"type": "tool_result", "tool_use_id": call_id}
        result.update(draw(st.sampled_from(({}, {"is_error": True}, _cached))))
        content = draw(st.none() | texts | st.lists(content_blocks, max_size=2))
        results.append(result if content is None else {**result, "content": content})
    answer = _user([*draw(st.permutations(results)), *draw(st.lists(content_blocks, max_size=2))])
    reminder = {"role": "system", "content": draw(visible_texts | st.lists(text_blocks, min_size=1, max_size=2))}
    return [{"role": "assistant", "content": blocks}, answer, *([reminder] if draw(st.booleans()) else [])]


@st.composite
def anthropic_wire_messages(draw: st.DrawFn) -> list[Wire]:
    """A well-formed Anthropic transcript: thinking, cache marks, documents, reminders."""
    messages: list[Wire] = []
    for serial in range(draw(st.integers(1, 4))):
        messages.append(_user(draw(visible_texts | st.lists(content_blocks, min_size=1, max_size=3))))
        for index in range(draw(st.integers(0, 2))):
            messages += draw(_anthropic_batch(serial * 10 + index))
        if draw(st.booleans()) or messages[-1]["role"] == "system":
            messages.append({"role": "assistant", "content": draw(visible_texts)})
    return messages
