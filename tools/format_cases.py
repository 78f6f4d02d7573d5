"""One sample of each kind of part in each format, and what becomes of it in the others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from foldline.engine.formats import FORMATS, Rendered

Wire = dict[str, Any]
Sample = list[Wire]

# What the part carries; it is looked for in the output.
PROBE: Final = "PROBE"
# A blank text carries nothing but itself.
BLANK: Final = " \t "
BLANKS: Final = "blank text"
# Parts whose text is what replaces them.
AS_TEXT: Final = frozenset({"tool call, arguments not an object", "custom tool call"})

KEPT: Final = "kept"
MAPPED: Final = "mapped"
REPLACED: Final = "replaced by text"
DROPPED: Final = "dropped"

GO: Final = "go"


def _user(*parts: object) -> Sample:
    return [{"role": "user", "content": list(parts)}]


def _said(text: str) -> Sample:
    return [{"role": "user", "content": text}]


def _answer(*blocks: object, **keys: object) -> Sample:
    return [*_said(GO), {"role": "assistant", "content": list(blocks), **keys}]


def _text(text: str = PROBE, **extra: object) -> Wire:
    return {"type": "text", "text": text, **extra}


MYSTERY: Final[Wire] = {"type": "mystery", "value": PROBE}


# OpenAI


def _openai_batch(call: Wire, content: object = "ok") -> Sample:
    wire = {"id": "c1", **call}
    return [
        *_said(GO),
        {"role": "assistant", "content": None, "tool_calls": [wire]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]


def _function(arguments: str) -> Wire:
    return {"type": "function", "function": {"name": "f", "arguments": arguments}}


def _openai_image(url: str) -> Wire:
    return {"type": "image_url", "image_url": {"url": url, "detail": "low"}}


INLINE: Final = f"data:image/png;base64,{PROBE}"
LINK: Final = f"https://example.com/{PROBE}.png"
CUSTOM: Final[Wire] = {"type": "custom", "custom": {"name": "f", "input": PROBE}}
AUDIO: Final[Wire] = {"role": "assistant", "content": None, "audio": {"id": PROBE}}
DETAILS: Final = [{"type": "reasoning.encrypted", "data": PROBE}]

OPENAI: Final[Mapping[str, Sample]] = {
    "text": _said(PROBE),
    "text part with extra keys": _user(_text(x=1)),
    "blank text, alone": _said(BLANK),
    "blank text beside other parts": _user(_text(BLANK), _text("x")),
    "refusal": _answer({"type": "refusal", "refusal": PROBE}),
    "base64 image": _user(_openai_image(INLINE)),
    "image by URL": _user(_openai_image(LINK)),
    "image of another type": _user(_openai_image(f"data:image/tiff;base64,{PROBE}")),
    "image from the assistant": _answer(_openai_image(INLINE)),
    "image in a result": _openai_batch(_function("{}"), [_openai_image(INLINE)]),
    "file": _user({"type": "file", "file": {"file_id": PROBE}}),
    "audio of an answer": [*_said(GO), AUDIO],
    "reasoning, unsigned": _answer(_text("x"), reasoning_content=PROBE),
    "reasoning, sealed": _answer(_text("x"), reasoning_details=DETAILS),
    "tool call": _openai_batch(_function(f'{{"a" : "{PROBE}"}}')),
    "tool call without arguments": _openai_batch(_function("")),
    "tool call, arguments not an object": _openai_batch(_function(PROBE)),
    "custom tool call": _openai_batch(CUSTOM),
    "tool result": _openai_batch(_function("{}"), PROBE),
    "unknown part": _user(MYSTERY),
    "unknown part alone in an answer": _answer(MYSTERY),
    "unknown part in a result": _openai_batch(_function("{}"), [MYSTERY]),
    "system message in the list": [*_said(GO), {"role": "system", "content": PROBE}],
    "developer message": [*_said(GO), {"role": "developer", "content": PROBE}],
}

# Anthropic


def _anthropic_batch(value: Wire, **result: object) -> Sample:
    return [
        *_said(GO),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": value}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok", **result}]},
    ]


def _anthropic_image(**source: str) -> Wire:
    return {"type": "image", "source": source}


def _thinking(**signature: str) -> Wire:
    return {"type": "thinking", "thinking": PROBE, **signature}


BASE64: Final = _anthropic_image(type="base64", media_type="image/png", data=PROBE)

ANTHROPIC: Final[Mapping[str, Sample]] = {
    "text": _said(PROBE),
    "text part with extra keys": _user(_text(cache_control={"type": "ephemeral"})),
    "blank text, alone": _said(BLANK),
    "blank text beside other parts": _user(_text(BLANK), _text("x", cache_control={})),
    "base64 image": _user(BASE64),
    "image by URL": _user(_anthropic_image(type="url", url=LINK)),
    "image by file id": _user(_anthropic_image(type="file", file_id=PROBE)),
    "image from the assistant": _answer(BASE64),
    "image in a result": _anthropic_batch({}, content=[BASE64]),
    "file": _user({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": PROBE}}),
    "reasoning, signed": _answer(_thinking(signature="s"), _text("x")),
    "reasoning, unsigned": _answer(_thinking(), _text("x")),
    "reasoning, sealed": _answer({"type": "redacted_thinking", "data": PROBE}, _text("x")),
    "tool call": _anthropic_batch({"a": PROBE}),
    "tool result": _anthropic_batch({}, content=PROBE),
    "failed tool result": _anthropic_batch({}, content=PROBE, is_error=True),
    "call of a server tool": _answer(
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": PROBE}}
    ),
    "unknown part": _user(MYSTERY),
    "unknown part alone in an answer": _answer(MYSTERY),
    "unknown part in a result": _anthropic_batch({}, content=[MYSTERY]),
    "system message in the list": [*_said(GO), {"role": "system", "content": PROBE}],
}

# Responses


def _items_batch(call: Wire, output: Wire) -> Sample:
    ids = {"call_id": "c1"}
    return [*_said(GO), {**call, **ids}, {**output, **ids}]


def _function_batch(arguments: str, output: object = "ok") -> Sample:
    call = {"type": "function_call", "name": "f", "arguments": arguments}
    return _items_batch(call, {"type": "function_call_output", "output": output})


def _reasoning(**keys: object) -> Sample:
    spoken = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    return [*_said(GO), {"type": "reasoning", "summary": [], **keys}, spoken]


def _input_text(text: str, **extra: object) -> Wire:
    return {"type": "input_text", "text": text, **extra}


def _input_image(url: str) -> Wire:
    return {"type": "input_image", "image_url": url, "detail": "auto"}


SUMMARY: Final = [{"type": "summary_text", "text": PROBE}]
PATCH: Final[Wire] = {"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "p"}}
SHELL: Final[Wire] = {"type": "shell_call", "action": {"commands": [PROBE]}}

RESPONSES: Final[Mapping[str, Sample]] = {
    "text": _said(PROBE),
    "text part with extra keys": _user(_input_text(PROBE, prompt_cache_breakpoint={"mode": "explicit"})),
    "blank text, alone": _said(BLANK),
    "blank text beside other parts": _user(_input_text(BLANK), _input_text("x")),
    "refusal": _answer({"type": "refusal", "refusal": PROBE}),
    "base64 image": _user(_input_image(INLINE)),
    "image by URL": _user(_input_image(LINK)),
    "image of another type": _user(_input_image(f"data:image/tiff;base64,{PROBE}")),
    "image by file id": _user({"type": "input_image", "file_id": PROBE, "detail": "auto"}),
    "image in a result": _function_batch("{}", [_input_image(INLINE)]),
    "file": _user({"type": "input_file", "file_id": PROBE}),
    "reasoning, signed": _reasoning(summary=SUMMARY, encrypted_content="s"),
    "reasoning, unsigned": _reasoning(summary=SUMMARY),
    "reasoning, sealed": _reasoning(encrypted_content=PROBE),
    "tool call": _function_batch(f'{{"a" : "{PROBE}"}}'),
    "tool call without arguments": _function_batch(""),
    "tool call, arguments not an object": _function_batch(PROBE),
    "custom tool call": _items_batch(
        {"type": "custom_tool_call", "name": "f", "input": PROBE}, {"type": "custom_tool_call_output", "output": "ok"}
    ),
    "call of a built-in tool": _items_batch(SHELL, {"type": "shell_call_output", "output": []}),
    "tool result": _function_batch("{}", PROBE),
    "failed tool result": _items_batch(PATCH, {"type": "apply_patch_call_output", "status": "failed", "output": PROBE}),
    "call of a server tool": [
        *_said(GO),
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": PROBE}},
    ],
    "sealed summary": [*_said(GO), {"type": "compaction", "encrypted_content": PROBE}],
    "unknown part": _user(MYSTERY),
    "unknown part alone in an answer": [*_said(GO), MYSTERY],
    "unknown part in a result": _function_batch("{}", [MYSTERY]),
    "system message in the list": [*_said(GO), {"role": "system", "content": PROBE}],
    "developer message": [*_said(GO), {"role": "developer", "content": PROBE}],
}

# Gemini


def _contents(*parts: Wire) -> Sample:
    return [{"role": "user", "parts": list(parts)}]


def _model(*parts: Wire) -> Sample:
    return [*_contents({"text": GO}), {"role": "model", "parts": list(parts)}]


def _gemini_batch(args: Wire, response: Wire, **extra: object) -> Sample:
    answer = {"functionResponse": {"name": "f", "response": response, **extra}}
    return [*_model({"functionCall": {"name": "f", "args": args}}), *_contents(answer)]


INLINE_DATA: Final[Wire] = {"inlineData": {"mimeType": "image/png", "data": PROBE}}
HOLOGRAM: Final[Wire] = {"hologram": PROBE}

GEMINI: Final[Mapping[str, Sample]] = {
    "text": _contents({"text": PROBE}),
    "text part with extra keys": _contents({"text": PROBE, "partMetadata": {"x": 1}}),
    "blank text, alone": _contents({"text": BLANK}),
    "blank text beside other parts": _contents({"text": BLANK}, {"text": "x"}),
    "base64 image": _contents(INLINE_DATA),
    "image by URL": _contents({"fileData": {"mimeType": "image/png", "fileUri": LINK}}),
    "image from the assistant": _model(INLINE_DATA),
    "image in a result": _gemini_batch({}, {"output": "ok"}, parts=[INLINE_DATA]),
    "file": _contents({"inlineData": {"mimeType": "application/pdf", "data": PROBE}}),
    "reasoning, signed": _model({"text": PROBE, "thought": True, "thoughtSignature": "s"}, {"text": "x"}),
    "reasoning, unsigned": _model({"text": PROBE, "thought": True}, {"text": "x"}),
    "reasoning, sealed": _model({"text": "x", "thoughtSignature": PROBE}),
    "tool call": _gemini_batch({"a": PROBE}, {"output": "ok"}),
    "tool result": _gemini_batch({}, {"output": PROBE}),
    "failed tool result": _gemini_batch({}, {"error": PROBE}),
    "call of a server tool": _model({"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": PROBE}}}),
    "code that the provider ran": _model({"executableCode": {"language": "PYTHON", "code": PROBE}}),
    "unknown part": _contents(HOLOGRAM),
    "unknown part alone in an answer": _model(HOLOGRAM),
    "unknown part in a result": _gemini_batch({}, {"output": "ok"}, parts=[HOLOGRAM]),
}

# Native


def _native(role: str, *parts: object) -> Sample:
    return [{"role": role, "parts": list(parts)}]


def _native_answer(*parts: object) -> Sample:
    return [*_native("user", _text(GO)), *_native("assistant", *parts)]


def _native_batch(arguments: str, *content: Wire, is_error: bool = False) -> Sample:
    call = {"type": "tool_call", "id": "c1", "name": "f", "arguments": arguments}
    result = {"type": "tool_result", "call_id": "c1", "content": [*content], "name": "f", "is_error": is_error}
    return [*_native_answer(call), *_native("tool", result)]


NATIVE_IMAGE: Final[Wire] = {"type": "image", "media_type": "image/png", "data": PROBE}

NATIVE: Final[Mapping[str, Sample]] = {
    "text": _native("user", _text()),
    "base64 image": _native("user", NATIVE_IMAGE),
    "image by URL": _native("user", {"type": "image", "url": LINK}),
    "image in a result": _native_batch("{}", NATIVE_IMAGE),
    "reasoning, signed": _native_answer({"type": "thinking", "text": PROBE, "signature": "s"}, _text("x")),
    "tool call": _native_batch(f'{{"a": "{PROBE}"}}', _text("ok")),
    "tool call, arguments not an object": _native_batch(PROBE, _text("ok")),
    "tool result": _native_batch("{}", _text()),
    "failed tool result": _native_batch("{}", _text(), is_error=True),
    "unknown part": _native("user", MYSTERY),
    "unknown part alone in an answer": _native_answer(MYSTERY),
    "unknown part in a result": _native_batch("{}", MYSTERY),
    "system message in the list": [*_native("user", _text(GO)), *_native("system", _text())],
    "developer message": [*_native("user", _text(GO)), *_native("developer", _text())],
}

CASES: Final[Mapping[str, Mapping[str, Sample]]] = MappingProxyType(
    {"openai": OPENAI, "anthropic": ANTHROPIC, "responses": RESPONSES, "gemini": GEMINI, "native": NATIVE}
)
# What every format can say.
EVERYWHERE: Final = frozenset({"text", "base64 image", "tool call", "tool result", "unknown part"})


class Row(NamedTuple):
    """What becomes of a part of one format: a fate for each format, in the order of `FORMATS`."""

    part: str
    source: str
    fates: tuple[str, ...]


def rows() -> Iterator[Row]:
    """The table, sorted by part as the formats name them first."""
    for part in dict.fromkeys(part for samples in CASES.values() for part in samples):
        for source, samples in CASES.items():
            if part in samples:
                yield Row(part, source, tuple(outcome(part, source, target).fate for target in FORMATS))


class Outcome(NamedTuple):
    """What became of a part: its fate as a word, and the parts that the rendering counted as lossy."""

    fate: str
    lossy: int


def outcome(part: str, source: str, target: str) -> Outcome:
    """What becomes of a part in another format."""
    sample = CASES[source][part]
    rendered = FORMATS[target].render(FORMATS[source].parse(sample), None)
    return Outcome(_fate(part, sample, rendered), rendered.lossy)


def _fate(part: str, sample: Sample, rendered: Rendered) -> str:
    if rendered.messages == sample:
        return KEPT
    wire = json.dumps(rendered.messages)
    if "left out]" in wire or "[empty message]" in wire:
        return REPLACED
    probe = BLANK if part.startswith(BLANKS) else PROBE
    if json.dumps(probe)[1:-1] not in json.dumps(sample) or json.dumps(probe)[1:-1] in wire:
        return REPLACED if part in AS_TEXT and rendered.lossy else MAPPED
    return DROPPED
