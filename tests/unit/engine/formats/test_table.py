"""The table in docs/formats.md, walked cell by cell."""

import json
from pathlib import Path
from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS, Rendered

PAGE = Path(__file__).parents[4] / "docs" / "formats.md"
TARGETS = ("openai", "anthropic", "native")
FATES = {"kept", "mapped", "replaced by text", "dropped"}

# What the part carries; it is looked for in the output.
PROBE = "PROBE"
# A blank text carries nothing but itself.
BLANK = " \t "


def _user(*parts: object) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(parts)}]


def _native(role: str, *parts: object) -> list[dict[str, Any]]:
    return [{"role": role, "parts": list(parts)}]


def _text(text: str = PROBE, **extra: object) -> dict[str, Any]:
    return {"type": "text", "text": text, **extra}


def _openai_batch(call: dict[str, Any], content: object = "ok") -> list[dict[str, Any]]:
    wire = {"id": "c1", **call}
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [wire]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]


def _function(arguments: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "arguments": arguments}}


def _anthropic_batch(value: dict[str, Any], **result: object) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": value}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok", **result}]},
    ]


def _native_batch(arguments: str, text: str) -> list[dict[str, Any]]:
    call = {"type": "tool_call", "id": "c1", "name": "f", "arguments": arguments}
    result = {"type": "tool_result", "call_id": "c1", "content": [_text(text)], "name": "f", "is_error": False}
    return [*_native("user", _text("go")), *_native("assistant", call), *_native("tool", result)]


def _openai_image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, "detail": "low"}}


def _anthropic_image(**source: str) -> dict[str, Any]:
    return {"type": "image", "source": source}


def _thinking(**signature: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": PROBE, **signature}


def _assistant(*blocks: object, **extra: object) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "go"}, {"role": "assistant", "content": list(blocks), **extra}]


INLINE = f"data:image/png;base64,{PROBE}"
LINK = f"https://example.com/{PROBE}.png"
BASE64 = _anthropic_image(type="base64", media_type="image/png", data=PROBE)
MYSTERY = {"type": "mystery", "value": PROBE}
CUSTOM = {"type": "custom", "custom": {"name": "f", "input": PROBE}}
SIGNED = {"type": "thinking", "text": PROBE, "signature": "s"}

CASES: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("text", "openai"): [{"role": "user", "content": PROBE}],
    ("text", "anthropic"): [{"role": "user", "content": PROBE}],
    ("text", "native"): _native("user", _text()),
    ("text part with extra keys", "openai"): _user(_text(x=1)),
    ("text part with extra keys", "anthropic"): _user(_text(cache_control={"type": "ephemeral"})),
    ("blank text, alone", "openai"): [{"role": "user", "content": BLANK}],
    ("blank text, alone", "anthropic"): [{"role": "user", "content": BLANK}],
    ("blank text beside other parts", "openai"): _user(_text(BLANK), _text("x")),
    ("blank text beside other parts", "anthropic"): _user(_text(BLANK), _text("x", cache_control={})),
    ("refusal", "openai"): _assistant({"type": "refusal", "refusal": PROBE}),
    ("base64 image", "openai"): _user(_openai_image(INLINE)),
    ("base64 image", "anthropic"): _user(BASE64),
    ("base64 image", "native"): _native("user", {"type": "image", "media_type": "image/png", "data": PROBE}),
    ("image by URL", "openai"): _user(_openai_image(LINK)),
    ("image by URL", "anthropic"): _user(_anthropic_image(type="url", url=LINK)),
    ("image of another type", "openai"): _user(_openai_image(f"data:image/tiff;base64,{PROBE}")),
    ("image by file id", "anthropic"): _user(_anthropic_image(type="file", file_id=PROBE)),
    ("image from the assistant", "openai"): _assistant(_openai_image(INLINE)),
    ("image from the assistant", "anthropic"): _assistant(BASE64),
    ("image in a result", "openai"): _openai_batch(_function("{}"), [_openai_image(INLINE)]),
    ("image in a result", "anthropic"): _anthropic_batch({}, content=[BASE64]),
    ("thinking, signed", "anthropic"): _assistant(_thinking(signature="s"), _text("x")),
    ("thinking, signed", "native"): [*_native("user", _text("go")), *_native("assistant", SIGNED, _text("x"))],
    ("thinking, unsigned", "openai"): _assistant(_text("x"), reasoning_content=PROBE),
    ("thinking, unsigned", "anthropic"): _assistant(_thinking(), _text("x")),
    ("thinking, redacted", "anthropic"): _assistant({"type": "redacted_thinking", "data": PROBE}, _text("x")),
    ("tool call", "openai"): _openai_batch(_function(f'{{"a" : "{PROBE}"}}')),
    ("tool call", "anthropic"): _anthropic_batch({"a": PROBE}),
    ("tool call", "native"): _native_batch(f'{{"a": "{PROBE}"}}', "ok"),
    ("tool call without arguments", "openai"): _openai_batch(_function("")),
    ("tool call, arguments not an object", "openai"): _openai_batch(_function(PROBE)),
    ("custom tool call", "openai"): _openai_batch(CUSTOM),
    ("tool result", "openai"): _openai_batch(_function("{}"), PROBE),
    ("tool result", "anthropic"): _anthropic_batch({}, content=PROBE),
    ("tool result", "native"): _native_batch("{}", PROBE),
    ("failed tool result", "anthropic"): _anthropic_batch({}, content=PROBE, is_error=True),
    ("unknown part", "openai"): _user(MYSTERY),
    ("unknown part", "anthropic"): _user(MYSTERY),
    ("unknown part", "native"): _native("user", MYSTERY),
    ("unknown part in a result", "openai"): _openai_batch(_function("{}"), [MYSTERY]),
    ("unknown part in a result", "anthropic"): _anthropic_batch({}, content=[MYSTERY]),
    ("system message in the list", "openai"): [
        {"role": "user", "content": "go"},
        {"role": "system", "content": PROBE},
    ],
    ("system message in the list", "native"): [*_native("user", _text("go")), *_native("system", _text())],
    ("developer message", "openai"): [{"role": "user", "content": "go"}, {"role": "developer", "content": PROBE}],
}


def _cells() -> list[tuple[str, str, str, str]]:
    lines = PAGE.read_text("utf-8").splitlines()
    start = lines.index("| part | from | to openai | to anthropic | to native |") + 2
    cells = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        part, source, *fates = (cell.strip() for cell in line.strip("|").split("|"))
        cells += [(part, source, target, fate) for target, fate in zip(TARGETS, fates, strict=True)]
    return cells


CELLS = _cells()


def test_the_table_has_a_row_for_every_case_and_no_other() -> None:
    rows = [(part, source) for part, source, target, _ in CELLS if target == TARGETS[0]]
    assert sorted(rows) == sorted(CASES)
    assert {fate for *_, fate in CELLS} <= FATES


@pytest.mark.parametrize(("part", "source", "target", "fate"), CELLS)
def test_a_part_meets_the_fate_the_table_says(part: str, source: str, target: str, fate: str) -> None:
    wires = CASES[part, source]
    rendered = FORMATS[target].render(FORMATS[source].parse(wires), None)
    probe = BLANK if part.startswith("blank") else PROBE
    assert _fate(wires, rendered, probe) == _refined(fate, part)


def _fate(wires: list[dict[str, Any]], rendered: Rendered, probe: str) -> str:
    if rendered.messages == wires:
        assert rendered.lossy == 0
        return "kept"
    carries = json.dumps(probe)[1:-1] in json.dumps(rendered.messages)
    if rendered.lossy == 0:
        assert carries or json.dumps(probe)[1:-1] not in json.dumps(wires)
        return "mapped"
    assert rendered.lossy == 1
    has_mark = "left out]" in json.dumps(rendered.messages) or "[empty message]" in json.dumps(rendered.messages)
    if carries:
        return "carried as text"
    return "replaced by text" if has_mark else "dropped"


def _refined(fate: str, part: str) -> str:
    """Arguments that are no object are the one thing whose text is the replacement itself."""
    is_raw = part in {"tool call, arguments not an object", "custom tool call"}
    return "carried as text" if is_raw and fate == "replaced by text" else fate


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_message_without_a_role_is_refused_with_that_reason(format_name: str) -> None:
    with pytest.raises(InvalidMessage, match=r"^messages\[0\]\.role: expected .*, but it is missing$"):
        FORMATS[format_name].parse([{"content": "hello"}])
